# SPDX-License-Identifier: MIT
# Launches, additions and sectors against n: gnuplot -c scripts/work.gp NAME OUTPUT
name = ARG1
output = ARG2
array panels = ['Launches', 'Additions for each element', 'Sectors for each element']
axes(p) = tops[p] > 0 ? 'set yrange [0:*]' : 'set yrange [0:1]'
least_of(p) = 0
least_title = ''
y_label = ''
load 'scripts/panels.gp'
