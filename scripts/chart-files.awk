# SPDX-License-Identifier: MIT
# What the files of a run have in common, for chart-data.awk and counts-data.awk: files are named by `is=NAME` before
# them; a header's columns are in `at`. FAMILIES: scripts/families. TITLES: "name TAB title TAB kinds TAB block sizes TAB
# where it runs" an algorithm, in list order. `only`: the algorithms asked for, or "all".

BEGIN {
    MANY = 12 # algorithms; of more, a chart over n shows a choice
    COLOURS = 7 # of style.gp
    words_into(wanted, only)
    family_count = split("networks passes single host other", families, " ")
    family_title["networks"] = "Networks in a block"
    family_title["passes"] = "Passes over the array"
    family_title["single"] = "Single pass"
    family_title["host"] = "On the host"
    family_title["other"] = "Others"
}

{ sub(/\r$/, "") }
is == "families" {
    if ($0 !~ /^#/ && split($0, part, " ")) {
        family[part[1]] = part[2]
        for (i = 3; i in part; i++)
            on_chart[part[i], part[1]] = 1
    }
    next
}
is == "titles" {
    split($0, part, "\t")
    add_algorithm(part[1], part[2])
    if (part[3] == "copy")
        is_copy[part[1]] = 1
    split(part[4], words, " ")
    own_threads[part[1]] = words[1]
    if (part[5] ~ /^host/)
        on_host[part[1]] = 1
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

function words_into(set, text,    words, i) {
    split(text, words, " ")
    for (i in words)
        set[words[i]] = 1
}

function add_algorithm(algorithm, text) {
    if (algorithm == "" || algorithm in title)
        return
    title[algorithm] = text == "" ? algorithm : text
    list[++listed] = algorithm
}

function family_of(a) { return a in family ? family[a] : a in on_host ? "host" : "other" }

# Is it shown, of `count` algorithms of which a chart could show each?
function shown_of(count, a) {
    if (only != "")
        return a in wanted || "all" in wanted
    return count <= MANY || !(a in family) || ("main", a) in on_chart || a in marked
}
function choice_of(count, of) { return count < of ? ". " count " of " of " algorithms: ALGORITHMS=all draws all" : "" }

# Styles: first those of the charts over n, then the others, each with a colour that no other of its family or of a chart
# it stands on has, where there is one.
function give_styles(    i, s) {
    for (i = 1; i <= listed; i++)
        if (!(list[i] in is_copy) && (!(list[i] in family) || ("main", list[i]) in on_chart))
            take_style(list[i], ++s)
    for (i = 1; i <= listed; i++)
        if (!(list[i] in is_copy) && !(list[i] in style))
            take_style(list[i], free_style(list[i]))
}
function take_style(a, s) {
    style[a] = s
    style_taken[s] = colour_taken[family_of(a), s % COLOURS] = 1
    if (("cub", a) in on_chart)
        colour_taken["cub", s % COLOURS] = 1
}
function free_style(a,    s, first) {
    for (s = 1; s <= 6 * COLOURS; s++) {
        if (s in style_taken)
            continue
        if (!((family_of(a), s % COLOURS) in colour_taken) && !(("cub", a) in on_chart && ("cub", s % COLOURS) in colour_taken))
            return s
        if (!first)
            first = s
    }
    if (first)
        return first
    while (s in style_taken)
        s++
    return s
}

function an(word) { return (word ~ /^[aeiou]/ ? "an " : "a ") word }

# Nothing that gnuplot would expand in a string.
function plain(text) { gsub(/[^ -~]|["\\`]/, "", text); return text }
function quoted(text) { text = plain(text); gsub(/'/, "''", text); return "'" text "'" }

# 65536 -> "2^16"; other numbers as they are.
function power(x,    k, left) {
    left = x
    for (k = 0; left > 1 && left % 2 == 0; k++)
        left /= 2
    return left == 1 && k >= 10 ? "2^" k : sprintf("%.0f", x)
}
