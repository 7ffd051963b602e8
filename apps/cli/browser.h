// The user's browser.
#pragma once

#include <string>

namespace qkv::cli {

/// Asks the desktop to open the address, where there is one. Whether it does is not known.
void open_in_browser(const std::string& url);

}  // namespace qkv::cli
