# SPDX-License-Identifier: MIT
# Time against n, with the crossovers marked: gnuplot -c scripts/crossover.gp NAME OUTPUT
name = ARG1
output = ARG2
load 'scripts/style.gp'
set logscale y
set format y '%.0s %cs'
set ylabel 'time of one scan'
if (flags) load name.'.flags'
note = flags ? 'Flags: crossovers between '.marked.', rings with their intervals; all pairs are in crossovers.csv.' : ''
note = note.(uncertain ? ' Hollow points: unstable.' : '')
set label 1005 note at screen 0.02, 0.025 font small noenhanced tc rgb '#444444'
plot for [i = 0:count - 1] data index i using 1:2:3:4 with yerrorbars ls style(i) dt 1 pt 0 lw 1 notitle, \
     for [i = 0:count - 1] data index i using 1:2 with linespoints ls style(i) title columnheader(1), \
     for [i = 1:uncertain > 0] name.'.unstable' using 1:2:(shape($3)) with points pt variable ps 0.8 lc rgb 'white' notitle, \
     for [i = 1:uncertain > 0] name.'.unstable' using 1:2:(shape($3) - 1):(colour($3)) with points pt variable ps 0.8 lc rgb variable notitle, \
     for [i = 1:flags > 0] name.'.marks' using 1:2:3:4 with xerrorbars ls 201 notitle
load 'scripts/formats.gp'
