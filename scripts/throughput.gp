# SPDX-License-Identifier: MIT
# Elements per second against n, under the copy ceiling: gnuplot -c scripts/throughput.gp NAME OUTPUT
name = ARG1
output = ARG2
load 'scripts/style.gp'
set logscale y
set format y '%.0s %c'
set ylabel 'elements per second' offset 0, 0
# The ceiling, where there is one, has style 100, that of a second run 520.
ceilings = sum [i = 0:count - 1] (style(i) == 100 || style(i) == 520)
note = ceilings == 0 && ceiling == 0 ? '' : ceilings == 0 ? \
    'Dotted: the faster one of a copy kernel and memcpy, measured as the run began, at the largest n for which there was memory. ' : \
    'Copy ceiling: at each n the faster one of a copy kernel and memcpy on the same device, reading and writing n elements. '
set label 1005 note.hollow_note at screen 0.02, 0.025 font small noenhanced tc rgb '#444444'
dotted = ceiling == 0 ? '' : ', ceiling with lines lw 1.6 dt 3 lc rgb "#777777" title "Copy, at the largest n"'
eval('plot for [i = 0:count - 1] data index i using 1:2 with linespoints ls style(i) title columnheader(1)'.hollow.dotted)
load 'scripts/formats.gp'
