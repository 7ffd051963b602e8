# cmake -D COMMAND=<qkv> -D EXAMPLE=<a program that links qkv> -D FOLDER=… -P older_processors.cmake: runs both on processors
# without AVX and without AVX-512, as qemu has them. Nothing that a program runs before it has looked at its processor may
# need more than x86-64 itself.
find_program(QEMU qemu-x86_64)
if(NOT QEMU)
  message("skipped: no qemu-x86_64 here (scripts/install-packages test)")
  return()
endif()
file(MAKE_DIRECTORY ${FOLDER})
# Tensors [1, 1, 2, 2] of f32, all of one number: the bytes "AAAA" are 12.08.
set(header "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2, 2), }")
execute_process(COMMAND printf "\\223NUMPY\\001\\000v\\000%-117s\\nAAAAAAAAAAAAAAAA" ${header}
                OUTPUT_FILE ${FOLDER}/x.npy COMMAND_ERROR_IS_FATAL ANY)
foreach(name IN ITEMS q k v)
  list(APPEND tensors --${name} ${FOLDER}/x.npy)
endforeach()

# run(<processor> <what its output must say> <program and its words>)
function(run processor says)
  execute_process(COMMAND ${QEMU} -cpu ${processor} ${ARGN} OUTPUT_VARIABLE text ERROR_VARIABLE fault RESULT_VARIABLE code)
  if(NOT code STREQUAL 0 OR NOT text MATCHES "${says}")
    message(FATAL_ERROR "${processor}: ${ARGN}\nended with ${code}, expected a text like \"${says}\":\n${text}\n${fault}")
  endif()
endfunction()

foreach(processor IN ITEMS Nehalem Haswell)
  if(processor STREQUAL "Nehalem")
    set(target scalar)
  else()
    set(target avx2)
  endif()
  run(${processor} "f32 on ${target}" ${COMMAND} info)
  run(${processor} "" ${COMMAND} attend ${tensors} --d-out ${FOLDER}/x.npy --gradients ${FOLDER}/gradients.npz
      --out ${FOLDER}/out.npy --quiet)
  run(${processor} "abc" ${COMMAND} generate copy "a b c" --tokens 3)
  run(${processor} "scale" ${COMMAND} explain "a b")
  run(${processor} "." ${EXAMPLE})
endforeach()
message("ran on Nehalem and Haswell")
