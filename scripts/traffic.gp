# SPDX-License-Identifier: MIT
# Bytes of global memory for each element against n, in three units: gnuplot -c scripts/traffic.gp NAME OUTPUT
name = ARG1
output = ARG2
array panels = ['Accessed', 'In sectors, by request', 'In sectors, by launch']
axes(p) = "set logscale y 2; set format y '%.0f'; set ytics 1, 2; set yrange [element_bytes:highest * 1.3]"
least_of(p) = 2 * element_bytes
least_title = 'Floor: 2 words'
y_label = 'bytes for each element'
load 'scripts/panels.gp'
