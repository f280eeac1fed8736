# SPDX-License-Identifier: MIT
# From the counts of a run to what their charts draw:
#
#   awk -v out=FOLDER -v machine=NAME [-v only="serial"] [-v partial=.part] -f chart-files.awk -f counts-data.awk \
#       is=families FAMILIES is=titles TITLES is=machine machine.csv is=counts counts.csv
#
# For every kind, type and op of the run and every chart, FOLDER gets NAME.dat (a block an algorithm, of rows of x and a
# value a panel, NaN where it is unknown) and NAME.gp (texts, ranges, line styles, the blocks of each panel); the file
# `charts` lists "CHART NAME". The panels are
#
#   work        over n: launches; additions for each element; sectors for each element
#   traffic     over n: bytes for each element, accessed; of the requests' sectors; of the launches' footprints
#   conflicts   of what uses shared memory, over the threads of a block at the largest n with several block sizes, or
#               over n where there is none: bank conflicts for each element; wavefronts for each request
#
# Of more than MANY algorithms those of the families' charts over n are shown, and for `conflicts` the networks.
# Otherwise an algorithm's own block size stands, or the largest. Of algorithms that agree in all panels the first is
# drawn, and the others named. A file that is not as it was written is refused: one line that says where and what is
# printed, and the exit code is 1.

BEGIN {
    FS = ","
    needed = split("schema run algorithm kind type op n threads launches additions global_load_sectors " \
        "global_store_sectors global_load_footprint global_store_footprint bytes_read bytes_written shared_requests " \
        "shared_wavefronts bank_conflicts", need, " ")
    FIRST_NUMBER = 7
    MOST_NOTE = 120 # characters, of 135 that fit
}

# ------------------------------------------------------------------------------------------------ reading

is != "counts" { next }
FNR == 1 {
    if (/;/ && !/,/)
        refuse("columns are separated by ';'; restore the file as it was written (a spreadsheet saved it)")
    if (/"/)
        refuse("quotes; restore the file as it was written (a spreadsheet saved it)")
    for (i = 1; i <= needed; i++)
        if (!(need[i] in at))
            refuse("no column " need[i] "; this is not a counts.csv of schema 1")
    next
}
{
    if (NF != columns)
        refuse(NF " fields, but the header has " columns " (a torn line, or a decimal comma?); remove the line or restore the file")
    if (field("schema") != "1")
        refuse("schema is \"" field("schema") "\", but this scanbench reads 1; use the one that wrote the file")
    for (i = 2; i <= needed; i++) {
        text = field(need[i])
        if (i < FIRST_NUMBER && (text == "" || text ~ /[^A-Za-z0-9._-]/ || text ~ /^\./))
            refuse(need[i] " is \"" text "\", not a name of letters, digits and \"._-\"; restore the file as it was written")
        if (i >= FIRST_NUMBER && text ~ /[^0-9]/)
            refuse(need[i] " is \"" text "\", not a whole number; restore the file as it was written")
    }
    if (field("n") + 0 == 0)
        refuse("n is \"" field("n") "\", not a number of elements; remove the row")
    if (run != "" && field("run") != run)
        refuse("run " field("run") " in a file of run " run "; keep one run a file")
    run = field("run")
    key = field("algorithm") "," field("kind") "," field("type") "," field("op") "," field("n") "," field("threads")
    if (key in line)
        refuse(field("algorithm") " at n = " field("n") " is there already, in line " line[key] "; remove one of the two")
    line[key] = FNR

    r = ++rows
    name[r] = field("algorithm")
    add_algorithm(name[r], name[r])
    n[r] = field("n") + 0
    threads[r] = field("threads")
    mode[r] = field("kind") "," field("type") "," field("op")
    each = 1 / n[r]
    launches[r] = number(field("launches"), 1)
    additions[r] = number(field("additions"), each)
    sectors[r] = both("global_load_sectors", "global_store_sectors", each)
    sector_bytes[r] = both("global_load_sectors", "global_store_sectors", 32 * each)
    footprint[r] = both("global_load_footprint", "global_store_footprint", 32 * each)
    bytes[r] = both("bytes_read", "bytes_written", each)
    conflicts[r] = number(field("bank_conflicts"), each)
    requests = field("shared_requests") + 0
    wavefronts[r] = requests ? number(field("shared_wavefronts"), 1 / requests) : "NaN"
    if (field("kind") == "copy")
        is_copy[name[r]] = 1
    else if (!(mode[r] in seen)) {
        seen[mode[r]] = 1
        modes[++mode_count] = mode[r]
    }
}

function number(text, unit) { return text == "" ? "NaN" : sprintf("%.9g", text * unit) }

function both(a, b, unit) {
    return field(a) == "" || field(b) == "" ? "NaN" : sprintf("%.9g", (field(a) + field(b)) * unit)
}

function refuse(why) {
    print FILENAME ":" FNR ": " why
    refused = 1
    exit 1
}

# ------------------------------------------------------------------------------------------------ charts

END {
    if (refused)
        exit 1
    give_styles()
    for (m = 1; m <= mode_count; m++)
        draw_mode(modes[m])
}


function draw_mode(this,    part, suffix, of, whose, several) {
    split(this, part, ",") # kind, type, op
    suffix = part[1] "-" part[2] "-" part[3]
    of = an(part[1]) " scan: counts, as the source writes them"
    whose = "The same on every device. Counted on machine " machine ", run " run (partial != "" ? ", incomplete" : "")
    problem = "Kind " part[1] ", type " part[2] ", operator " part[3]
    width = part[2] ~ /64/ ? 8 : 4
    choose_rows(this)
    draw("work", suffix, "Work of " of, whose, \
        "Additions: applications of the operator, padding included. Sectors: of 32 bytes, distinct within a warp's request")
    draw("traffic", suffix, "Global memory traffic of " of, whose, \
        "Accessed: by the threads. Sectors: of 32 bytes, whole, distinct within a warp's request or within a launch (footprint)")
    several = several_sizes(this)
    if (several) {
        problem = problem ", n = " power(several)
        choose_sizes(this, several)
    }
    draw("conflicts", suffix, "Shared memory in " of, whose, \
        "Wavefronts: passes over the 32 banks. Conflicts: wavefronts beyond those that a request needs")
}

# best[algorithm, x] is the row that stands for it, by_x[1..xs] every x: x is n ...
function choose_rows(this,    r) {
    forget()
    for (r = 1; r <= rows; r++)
        if (mode[r] == this)
            choose(r, n[r])
}

# ... or the block size, at one n.
function choose_sizes(this, size,    r) {
    forget()
    over_threads = 1
    for (r = 1; r <= rows; r++)
        if (mode[r] == this && n[r] == size && threads[r] != "")
            choose(r, threads[r])
}

function forget() {
    split("", best)
    split("", known)
    xs = over_threads = 0
}

function choose(r, x,    i, key) {
    key = name[r] SUBSEP x
    if (!(key in best) || (threads[best[key]] != own_threads[name[r]] && \
        (threads[r] == own_threads[name[r]] || threads[r] + 0 > threads[best[key]] + 0)))
        best[key] = r
    if (x in known)
        return
    known[x] = 1
    for (i = ++xs; i > 1 && by_x[i - 1] + 0 > x + 0; i--)
        by_x[i] = by_x[i - 1]
    by_x[i] = x
}

# The largest n at which something that uses shared memory has several block sizes; 0: none.
function several_sizes(this,    r, largest, first) {
    for (r = 1; r <= rows; r++) {
        if (mode[r] != this || wavefronts[r] == "NaN")
            continue
        if (!((name[r], n[r]) in first))
            first[name[r], n[r]] = threads[r]
        else if (first[name[r], n[r]] != threads[r] && n[r] > largest + 0)
            largest = n[r]
    }
    return largest + 0
}

# The value of a row in a panel of a chart.
function value(chart, panel, r) {
    if (chart == "work")
        return panel == 1 ? launches[r] : panel == 2 ? additions[r] : sectors[r]
    if (chart == "traffic")
        return panel == 1 ? bytes[r] : panel == 2 ? sector_bytes[r] : footprint[r]
    return wavefronts[r] == "NaN" ? "NaN" : panel == 1 ? conflicts[r] : wavefronts[r]
}

# Has it anything to show there?
function counted_in(chart, a,    j) {
    for (j = 1; j <= xs && !(a in is_copy); j++)
        if (((a, by_x[j]) in best) && (chart != "conflicts" || wavefronts[best[a, by_x[j]]] != "NaN"))
            return 1
    return 0
}

# Is it shown, of `all` that have? Conflicts are the matter of the networks.
function shown_in(chart, all, a) {
    if (chart == "conflicts" && only == "" && all > MANY && a in family)
        return family[a] == "networks"
    return shown_of(all, a)
}

# Writes NAME.dat and NAME.gp, unless there is nothing to draw.
function draw(chart, suffix, heading, whose, what,    panels, i, j, p, a, r, v, lines, row, first, has, count, file, \
              numbers, titles, blocks, twins, note, others, tops, shown, lowest, highest, all, some) {
    panels = chart == "conflicts" ? 2 : 3
    file = out "/" chart "-" suffix
    for (i = 1; i <= listed; i++)
        all += counted_in(chart, list[i])
    for (i = 1; i <= listed; i++) {
        a = list[i]
        if (!counted_in(chart, a) || !shown_in(chart, all, a))
            continue
        some++
        lines = ""
        split("", has)
        for (j = 1; j <= xs; j++) {
            if (!((a, by_x[j]) in best))
                continue
            r = best[a, by_x[j]]
            row = ""
            for (p = 1; p <= panels; p++) {
                v = value(chart, p, r)
                row = row " " v
                if (v == "NaN")
                    continue
                has[p] = 1
                if (lowest == "" || v + 0 < lowest)
                    lowest = v + 0
                if (v + 0 > highest + 0)
                    highest = v + 0
                if (v + 0 > tops[p] + 0)
                    tops[p] = v + 0
            }
            if (row ~ /[0-9]/)
                lines = lines by_x[j] row "\n"
        }
        if (lines == "")
            continue
        if (lines in first) {
            twins[first[lines]] = twins[first[lines]] (twins[first[lines]] == "" ? "" : ", ") a
            continue
        }
        first[lines] = a
        for (p = 1; p <= panels; p++)
            if (p in has)
                blocks[p] = blocks[p] " " count + 0
        printf "%s%s", (count ? "\n\n" : ""), lines >(file ".dat")
        numbers = numbers " " style[a]
        titles = titles (count++ ? ", " : "") quoted(title[a])
        drawn[count] = a
    }
    if (!count)
        return
    close(file ".dat")
    for (i = 1; i <= count; i++) {
        if (!(drawn[i] in twins))
            continue
        row = (note == "" ? "The same lines: " : "; ") drawn[i] " and " twins[drawn[i]]
        if (others || (note != "" && length(note row) > MOST_NOTE))
            others++
        else
            note = note row
    }
    if (others)
        note = note "; and " others " more"
    printf "heading = %s\nwhose = %s\nproblem = %s\nwhat = %s\nnote = %s\n", quoted(heading), quoted(whose), \
        quoted(problem choice_of(some, all)), quoted(what), quoted(note == "" ? "" : note ". ") >(file ".gp")
    printf "styles = '%s'\narray titles = [%s]\narray blocks = [", numbers, titles >(file ".gp")
    for (p = 1; p <= panels; p++)
        printf "%s'%s'", (p > 1 ? ", " : ""), blocks[p] >(file ".gp")
    printf "]\narray tops = [" >(file ".gp")
    for (p = 1; p <= panels; p++)
        printf "%s%.9g", (p > 1 ? ", " : ""), tops[p] >(file ".gp")
    for (p = 1; p <= panels; p++)
        if (blocks[p] != "")
            shown = shown " " p
    printf "]\nshown = '%s'\nleast = %.0f\nmost = %.0f\nlowest = %.9g\nhighest = %.9g\n", \
        shown, by_x[1], by_x[xs], lowest, highest >(file ".gp")
    printf "element_bytes = %d\nover_threads = %d\nuncertain = 0\nflags = 0\n", width, over_threads >(file ".gp")
    close(file ".gp")
    print chart, chart "-" suffix >(out "/charts")
}
