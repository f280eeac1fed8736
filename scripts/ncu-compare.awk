# SPDX-License-Identifier: MIT
# The count build's launches against what Nsight Compute saw of the same runs:
#
#   awk [-v out=FILE] -f ncu-compare.awk is=counts launches.csv is=ncu of="ALGORITHM KIND TYPE N" PROFILE.csv of=... PROFILE.csv
#
# A profile is what `ncu --csv --page raw --print-units base --print-kernel-base function` printed of one run. Launches
# are joined by their order; what was launched before the run (a plan) is left out. Prints a line a kernel of each run,
# with the sums over its launches where they differ; FILE gets a row a launch and quantity. The exit code is 1 where the
# launches themselves differ, not where only what they did does: a compiler may merge accesses.

BEGIN {
    quantities = split("load_requests store_requests load_sectors store_sectors shared_wavefronts shared_requests", \
        quantity, " ")
    metric["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] = "load_requests"
    metric["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] = "store_requests"
    metric["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = "load_sectors"
    metric["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] = "store_sectors"
    metric["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"] = "shared_wavefronts"
    metric["smsp__sass_inst_executed_op_shared.sum"] = "shared_requests"
    column["load_requests"] = "global_load_requests"
    column["store_requests"] = "global_store_requests"
    column["load_sectors"] = "global_load_sectors"
    column["store_sectors"] = "global_store_sectors"
    column["shared_wavefronts"] = "shared_wavefronts"
    column["shared_requests"] = "shared_requests"
    if (out != "")
        print "algorithm,kind,type,n,launch_number,kernel,quantity,counted,ncu" >out
}

# ------------------------------------------------------------------------------------------------ reading

is == "counts" {
    count = split($0, value, ",")
    if (FNR == 1) {
        for (i = 1; i <= count; i++)
            at[value[i]] = i
        next
    }
    kernel = value[at["kernel"]]
    if (kernel == "memcpy" || kernel == "memset") # ncu sees kernels only
        next
    run = value[at["algorithm"]] " " value[at["kind"]] " " value[at["type"]] " " value[at["n"]]
    l = ++counted_launches[run]
    counted_kernel[run, l] = kernel
    number[run, l] = value[at["launch_number"]]
    for (q = 1; q <= quantities; q++)
        counted[run, l, quantity[q]] = value[at[column[quantity[q]]]]
    next
}
FNR == 1 {
    runs[++run_count] = of
    header = 0
}
/^"?ID"?,/ {
    header = split_quoted($0, name)
    wide = 1
    for (i = 1; i <= header; i++) {
        place[name[i]] = i
        if (name[i] == "Metric Name")
            wide = 0
    }
    next
}
header && split_quoted($0, value) == header && value[place["ID"]] != "" { # the line below the header has units only
    if (!((of, value[place["ID"]]) in seen)) {
        seen[of, value[place["ID"]]] = ++profiled_launches[of]
        profiled_kernel[of, profiled_launches[of]] = value[place["Kernel Name"]]
    }
    l = seen[of, value[place["ID"]]]
    if (!wide)
        keep(value[place["Metric Name"]], value[place["Metric Value"]])
    for (i = 1; wide && i <= header; i++)
        keep(name[i], value[i])
}

function keep(what, text) {
    gsub(/,/, "", text) # of thousands
    if (what in metric && text ~ /^[0-9.]+$/)
        profiled[of, l, metric[what]] = text + 0
}

# Fields with commas stand in quotes. Returns their number.
function split_quoted(line, field,    fields, rest) {
    sub(/\r$/, "", line)
    split("", field)
    fields = 0
    for (rest = line; ; rest = substr(rest, RLENGTH + 2)) {
        if (!match(rest, /^"[^"]*"/))
            match(rest, /^[^,]*/)
        field[++fields] = substr(rest, 1, RLENGTH)
        gsub(/"/, "", field[fields])
        if (RLENGTH >= length(rest))
            return fields
    }
}

# ------------------------------------------------------------------------------------------------ comparing

END {
    for (r = 1; r <= run_count; r++)
        compare(runs[r])
    for (q = 1; q <= quantities; q++)
        if (quantity[q] in compared)
            list = list (list == "" ? "" : ", ") quantity[q]
    printf "%d of %d kernels as counted%s; compared: %s\n", same, same + different, \
        (different ? " (of the others the sums over their launches are above)" : ""), (list == "" ? "nothing" : list)
    exit wrong || list == ""
}

function compare(run,    expected, found, before, l, q, kernels, kernel, k, order, launches, differs, text) {
    expected = counted_launches[run] + 0
    found = profiled_launches[run] + 0
    before = found - expected
    if (!found || before < 0) {
        printf "%s: %d launches of kernels counted, %d profiled\n", run, expected, found
        wrong = 1
        return
    }
    for (l = 1; l <= found; l++) {
        if (expected && l <= before)
            continue
        kernel = profiled_kernel[run, l]
        if (expected && kernel != counted_kernel[run, l - before]) {
            printf "%s: launch %s is %s as counted, but %s as profiled\n", run, number[run, l - before], \
                counted_kernel[run, l - before], kernel
            wrong = 1
            return
        }
    }
    split("", order)
    split("", launches)
    split("", sum)
    for (l = expected ? before + 1 : 1; l <= found; l++) {
        kernel = profiled_kernel[run, l]
        if (!(kernel in launches))
            order[++kernels] = kernel
        launches[kernel]++
        for (q = 1; q <= quantities; q++) {
            if (!((run, l, quantity[q]) in profiled))
                continue
            compared[quantity[q]] = 1
            sum[kernel, q, "ncu"] += profiled[run, l, quantity[q]]
            sum[kernel, q, "counted"] += counted[run, l - before, quantity[q]]
            if (out != "")
                print_row(run, expected ? number[run, l - before] : l, kernel, quantity[q], \
                    expected ? counted[run, l - before, quantity[q]] : "", profiled[run, l, quantity[q]])
        }
    }
    for (k = 1; k <= kernels; k++) {
        kernel = order[k]
        text = ""
        for (q = 1; q <= quantities; q++) {
            if (!((kernel, q, "ncu") in sum))
                continue
            if (!expected)
                text = text sprintf("; %s %.0f", quantity[q], sum[kernel, q, "ncu"])
            else if (sum[kernel, q, "ncu"] != sum[kernel, q, "counted"])
                text = text sprintf("; %s %.0f counted, %.0f by ncu%s", quantity[q], sum[kernel, q, "counted"], \
                    sum[kernel, q, "ncu"], percent(sum[kernel, q, "ncu"], sum[kernel, q, "counted"]))
        }
        if (expected && text == "")
            same++
        else if (expected)
            different++
        sub(/^; /, "", text)
        printf "%s: %s, %d launch%s: %s%s\n", run, kernel, launches[kernel], (launches[kernel] > 1 ? "es" : ""), \
            expected ? "" : "opaque, by ncu alone: ", text == "" ? "as counted" : text
    }
}

function percent(now, before) { return before ? sprintf(" (%+.2f %%)", 100 * (now - before) / before) : "" }

function print_row(run, l, kernel, what, a, b) {
    gsub(/ /, ",", run)
    print run "," l "," kernel "," what "," a "," b >out
}
