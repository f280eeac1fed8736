# SPDX-License-Identifier: MIT
# What the files of a run have in common, for chart-data.awk and counts-data.awk: files are named by `is=NAME` before
# them; a header's columns are in `at`. TITLES: "name TAB title TAB kinds TAB block sizes" an algorithm, in list order.

{ sub(/\r$/, "") }
is == "titles" {
    split($0, part, "\t")
    add_algorithm(part[1], part[2])
    if (part[3] == "copy")
        is_copy[part[1]] = 1
    split(part[4], words, " ")
    own_threads[part[1]] = words[1]
    next
}
FNR == 1 {
    split("", at)
    for (i = 1; i <= NF; i++)
        at[$i] = i
    columns = NF
    if (is != "counts") # whose header is checked
        next
}
is == "machine" {
    gpu = field("gpu_name")
    host_cpu = field("host_cpu")
}

function field(column) { return (column in at) ? $(at[column]) : "" }

function add_algorithm(algorithm, text) {
    if (algorithm == "" || algorithm in title)
        return
    title[algorithm] = text == "" ? algorithm : text
    list[++listed] = algorithm
}

function an(word) { return (word ~ /^[aeiou]/ ? "an " : "a ") word }

# Nothing that gnuplot would expand in a string.
function plain(text) { gsub(/[^ -~]|["\\`]/, "", text); return text }
function quoted(text) { text = plain(text); gsub(/'/, "''", text); return "'" text "'" }
