# An installed copy has the documents, where the links of README.md find them.
file(GLOB_RECURSE pages RELATIVE ${SOURCE} ${SOURCE}/docs/*)
foreach(page IN LISTS pages ITEMS README.md CHANGELOG.md LICENSE models/README.md)
  if(NOT EXISTS ${PREFIX}/${DOCDIR}/${page})
    message(FATAL_ERROR "${DOCDIR}/${page} is not installed")
  endif()
endforeach()
