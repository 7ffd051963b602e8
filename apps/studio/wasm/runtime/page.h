// What the page and the engine call of each other.
#pragma once

#define QKV_IMPORT(name) __attribute__((import_module("qkv"), import_name(name)))
#define QKV_EXPORT(name) extern "C" __attribute__((export_name(name), visibility("default")))
