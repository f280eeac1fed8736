# SPDX-License-Identifier: MIT
# Time against n, with the crossovers marked: gnuplot -c scripts/crossover.gp NAME OUTPUT
name = ARG1
output = ARG2
load 'scripts/style.gp'
set logscale y
set format y '%.0s %cs'
set ylabel 'time of one scan'
if (flags) load name.'.flags'
note = flags ? flags_note : ''
set label 1005 note.hollow_note at screen 0.02, 0.025 font small noenhanced tc rgb '#444444'
intervals = 'for [i = 0:count - 1] data index i using 1:2:3:4 with yerrorbars ls style(i) dt 1 pt 0 lw 1 notitle'
lines = ', for [i = 0:count - 1] data index i using 1:2 with linespoints ls style(i) title columnheader(1)'
rings = flags ? ', name.".marks" using 1:2:3:4 with xerrorbars ls 201 notitle' : ''
eval('plot '.intervals.lines.hollow.rings)
load 'scripts/formats.gp'
