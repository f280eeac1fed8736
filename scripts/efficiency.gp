# SPDX-License-Identifier: MIT
# Time of a copy over time of the scan against n: gnuplot -c scripts/efficiency.gp NAME OUTPUT
name = ARG1
output = ARG2
load 'scripts/style.gp'
set ylabel 'time of a copy over time of the scan' offset 0, 0
set yrange [0:highest > 1 ? highest * 1.05 : 1.05]
set label 1005 note.hollow_note at screen 0.02, 0.025 font small noenhanced tc rgb '#444444'
one = '1 with lines ls 100 lw 2 notitle'
bars = ', for [i = 0:count - 1] data index i using 1:2:3:4 with yerrorbars ls style(i) dt 1 pt 0 lw 1 notitle'
lines = ', for [i = 0:count - 1] data index i using 1:2 with linespoints ls style(i) title columnheader(1)'
eval('plot '.one.bars.lines.hollow)
load 'scripts/formats.gp'
