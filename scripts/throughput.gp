# SPDX-License-Identifier: MIT
# Elements per second against n, under the copy ceiling: gnuplot -c scripts/throughput.gp NAME OUTPUT
name = ARG1
output = ARG2
load 'scripts/style.gp'
set logscale y
set format y '%.0s %c'
set ylabel 'elements per second'
note = 'Copy ceiling: at each n the faster one of a copy kernel and memcpy on the same device, reading and writing n elements.'
note = note.(uncertain ? ' Hollow points: unstable.' : '')
set label 1005 note at screen 0.02, 0.025 font small noenhanced tc rgb '#444444'
plot for [i = 0:count - 1] data index i using 1:2 with linespoints ls style(i) title columnheader(1), \
     for [i = 1:uncertain > 0] name.'.unstable' using 1:2:(shape($3)) with points pt variable ps 0.8 lc rgb 'white' notitle, \
     for [i = 1:uncertain > 0] name.'.unstable' using 1:2:(shape($3) - 1):(colour($3)) with points pt variable ps 0.8 lc rgb variable notitle
load 'scripts/formats.gp'
