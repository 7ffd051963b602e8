# cmake -D OBJDUMP=… -D "OBJECTS=…" -P amx_instructions.cmake: in the objects of the target amx the instructions that are
# written as text are those meant: each product of tiles occurs, in bf16 and in f16, on the same registers, and that of
# bytes with a sign.
if(NOT OBJDUMP)
  message("skipped: no llvm-objdump of LLVM 16 or newer, which knows AMX-FP16 (scripts/install-packages test)")
  return()
endif()
list(FILTER OBJECTS INCLUDE REGEX "(target|quantised)_amx\\.cc\\.o(bj)?$")
execute_process(COMMAND ${OBJDUMP} -d --mattr=+amx-tile,+amx-bf16,+amx-fp16,+amx-int8 ${OBJECTS} OUTPUT_VARIABLE text
                COMMAND_ERROR_IS_FATAL ANY)
# VEX.128, W0, map 0F38, opcode 5C; the prefix, in the third byte's last two bits, is F3 for bf16 and F2 for f16.
foreach(wanted IN ITEMS
    "c4 e2 4a 5c c4[ \t]+tdpbf16ps[ \t]+%tmm6, %tmm4, %tmm0" "c4 e2 4b 5c c4[ \t]+tdpfp16ps[ \t]+%tmm6, %tmm4, %tmm0"
    "c4 e2 42 5c cc[ \t]+tdpbf16ps[ \t]+%tmm7, %tmm4, %tmm1" "c4 e2 43 5c cc[ \t]+tdpfp16ps[ \t]+%tmm7, %tmm4, %tmm1"
    "c4 e2 4a 5c d5[ \t]+tdpbf16ps[ \t]+%tmm6, %tmm5, %tmm2" "c4 e2 4b 5c d5[ \t]+tdpfp16ps[ \t]+%tmm6, %tmm5, %tmm2"
    "c4 e2 42 5c dd[ \t]+tdpbf16ps[ \t]+%tmm7, %tmm5, %tmm3" "c4 e2 43 5c dd[ \t]+tdpfp16ps[ \t]+%tmm7, %tmm5, %tmm3"
    "c4 e2 6b 5e c1[ \t]+tdpbssd[ \t]+%tmm2, %tmm1, %tmm0")
  if(NOT text MATCHES "${wanted}")
    message(FATAL_ERROR "not in ${OBJECTS}: ${wanted}")
  endif()
endforeach()
