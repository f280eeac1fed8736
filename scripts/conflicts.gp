# SPDX-License-Identifier: MIT
# Bank conflicts of shared memory against n or the block size: gnuplot -c scripts/conflicts.gp NAME OUTPUT
name = ARG1
output = ARG2
array panels = ['Bank conflicts for each element', 'Wavefronts for each request of a warp']
axes(p) = tops[p] > 0 ? 'set yrange [0:*]' : 'set yrange [0:1]'
least_of(p) = 0
least_title = ''
y_label = ''
load 'scripts/panels.gp'
