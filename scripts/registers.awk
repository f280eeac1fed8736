# SPDX-License-Identifier: MIT
# awk -f scripts/registers.awk LOG...: what ptxas -v said of each kernel (demangled by c++filt), and before them lines
# `maxntid N KERNEL` from the PTX, as lines of fields apart by tabs:
#     algorithm kernel type op sm registers shared stack spill_stores spill_loads most_threads
# The algorithm is the log's file name. A kernel bears the template arguments that are not its operator. Empty: not said,
# or none. Instances that count their additions are left out, as they are never timed, and so is a
# kernel of CUB's that is never launched.
BEGIN { OFS = "\t" }

FNR == 1 { algorithm = FILENAME; sub(/.*\//, "", algorithm); sub(/\.log$/, "", algorithm) }

/^maxntid / { threads = $2; sub(/^maxntid [0-9]+ /, ""); most_threads[$0] = threads; next }

/Compiling entry function/ {
    text = $0
    sub(/.*Compiling entry function '/, "", text)
    sm = text
    sub(/.*' for '/, "", sm)
    sub(/'.*/, "", sm)
    sub(/' for '.*/, "", text)
    name(text)
    registers = shared = stack = stores = loads = ""
}
/bytes stack frame/ { stack = before("bytes stack frame"); stores = before("bytes spill stores"); loads = before("bytes spill loads") }
/ Used [0-9]+ registers/ {
    registers = before("registers")
    shared = $0 ~ /bytes smem/ ? before("bytes smem") : 0
    if (!counted && kernel != "EmptyKernel") print algorithm, kernel, type, op, sm, registers, shared, stack, stores, loads, most_threads[text]
}

# The number that stands before these words.
function before(words, line, part, count) {
    line = $0
    sub(" " words ".*", "", line)
    count = split(line, part, " ")
    return part[count]
}

# Kernel, type and operator of a name such as `void scan_tiles<Operator<Sum<int>, false>, Padded>(int const*)`.
function name(text, head, arguments, count, i, argument, rest) {
    counted = text ~ /Operator<[A-Za-z]+<[a-z ]+>, true>/
    head = text
    sub(/^(static )?void /, "", head)
    kernel = head
    sub(/[<(].*/, "", kernel)
    sub(/^.*::/, "", kernel)
    type = op = rest = ""
    if (text ~ /DeviceScanKernel</) { # CUB's own
        op = text ~ /plus</ ? "sum" : text ~ /maximum</ ? "max" : text ~ /Affine</ ? "affine" : ""
        argument = text
        if (argument ~ /ScanTileState</) { sub(/.*ScanTileState</, "", argument); sub(/,.*/, "", argument); type = short(argument) }
        kernel = kernel (text ~ /InputValue</ ? " exclusive" : " inclusive")
        return
    }
    if (text ~ /cub::|thrust::/) return
    count = split_arguments(head, arguments)
    for (i = 1; i <= count; i++) {
        argument = arguments[i]
        if (argument ~ /^Operator</) {
            op = tolower(argument)
            sub(/^operator</, "", op)
            sub(/<.*/, "", op)
            sub(/^Operator<[A-Za-z]+</, "", argument)
            sub(/>.*/, "", argument)
            type = short(argument)
        } else if (short(argument) != argument && type == "") type = short(argument)
        else rest = rest (rest == "" ? "" : ", ") argument
    }
    if (rest != "") kernel = kernel "<" rest ">"
}
function short(type) {
    return type ~ /^(unsigned )?int$/ ? "i32" : type ~ /^(unsigned )?long( long)?$/ ? "i64" : type == "float" ? "f32" : \
        type == "double" ? "f64" : type
}
# The template arguments of the outermost pair of brackets.
function split_arguments(head, list, i, c, depth, count, word) {
    split("", list)
    for (i = index(head, "<") + 1; i > 1 && i <= length(head); i++) {
        c = substr(head, i, 1)
        if (c == "<" || c == "(") depth++
        if (c == ">" && depth == 0 || c == "," && depth == 0) {
            sub(/^ +/, "", word)
            sub(/ +$/, "", word)
            list[++count] = word
            word = ""
            if (c == ">") break
            continue
        }
        if (c == ">" || c == ")") depth--
        word = word c
    }
    return count
}
