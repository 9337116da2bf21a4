#!/bin/sh
# Stops a deployment where the projections of people outside of the fit reveal more than is allowed.
set -eu
fairpca audit "$1" --model "$2" --fail-above upper_bound=0.05,auc=0.6 --junit fairness.xml
echo "deploying"
