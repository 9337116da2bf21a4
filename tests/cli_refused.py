"""Command lines that are refused, and words that the refusal must have."""
# SPDX-License-Identifier: MIT

LINES = r"""
fit {good} -s sexx | did you mean 'sex'?
fit {good} -s '' | --sensitive names no column
fit {good} -s sex --label sex | column 'sex' is named twice among --sensitive, --label
fit {good} -s sex --weight work | the weight column 'work' must hold numbers
fit {good} -s sex --numbers foo | --numbers foo is no column of
fit {good} -s sex --numbers work | column 'work' is named in --numbers, but holds 'public' in row 1
fit {good} -s sex --categories age --numbers age | column 'age' is named both in --categories and in --numbers
fit {good} -s sex --missing maybe | --missing maybe is unknown
fit {good} -s sex --fairness equality | --fairness equality is unknown
fit {good} -s sex --fairness equalized_odds | --fairness equalized_odds speaks of labels
fit {good} -s sex --fairness equal_opportunity --label hired --favourable maybe | --favourable maybe is not a label
fit {good} -s sex --fairness equal_opportunity --label hired | name it with --favourable
fit {good} -s sex --favourable yes | --favourable has a meaning for --fairness equal_opportunity only
fit {good} -s sex --continuous age | --continuous names 'age', which is not among --sensitive sex
fit {good} -s sex --continuous sex | --sensitive is named in --continuous, but holds labels that are not
fit {good} -s sex --tolerance abc | --tolerance abc must be auto, a number above 0
fit {good} -s sex --tolerance sexx=0.1 | --tolerance names 'sexx', which is not among --sensitive sex
fit {good} -s sex,race --drop hired,town,weight --tolerance sex=0.1 | --tolerance names the attributes 'sex'
fit {good} -s sex --components 0 | --components 0 must be a whole number of at least 1
fit {good} -s sex --components 999 | --components 999 must be between 1 and the number of features, 16
fit {good} -s sex --held-out 0 | invalid value for '--held-out'
fit {good} -s sex --seed -1 | invalid value for '--seed'
fit {good} -s sex --delimiter ';' | has one column: no delimiter (comma, semicolon, tab, bar) was found
fit {good} -s sex --encoding klingon | --encoding klingon is unknown
fit {good} -s sex --decimal x | --decimal x must be '.' or ','
fit {good} -s sex --decimal , | column 'income' is made of numbers with another decimal mark
fit {good} -s sex --out {good} | --out {good} is a file
fit {good} -s sex --unknown-option | no such option: --
fit {good} -s sex extra | got unexpected extra argument(s) (extra)
fit {good} | missing option '--sensitive' / '-s'
fit -s sex | missing argument 'table'
fit {d}/nothing.csv -s sex | does not exist
fit {model} -s sex | is a model of fairpca, not a table
fit /dev/null -s sex | /dev/null is not a plain file, which can be read more than once
fit {good} -s sex --promise 0 | --promise 0.0 must be between 0 and 1
fit {good} -s weight --continuous weight --promise 0.1 | --promise speaks of groups, and --continuous of amounts
plan --promise 0 | --promise 0.0 must be between 0 and 1
plan 0.01 --promise 0.1 | epsilon is of an audit, and --promise of a release
plan --promise 1e-9 | --promise 1e-09 is less than 1e+09 rows could show
transform {good} {model} | cannot be loaded: it is no model file, or not the whole of one
transform {model} {model} | is a model of fairpca, not a table
transform {d}/nothing {good} | {d}/nothing: no such file or directory
transform {model} {good} --out {d}/p.xlsx | must end in one of .csv, .tsv, .parquet, .arrow, .feather
transform {model} {good} --out {good} | is the table itself
transform {model} {good} --keep nothing --out {d}/p.csv | --keep nothing is no column of
transform {model} {good} --unknown maybe --out {d}/p.csv | --unknown maybe is unknown
audit {good} | --sensitive is needed: name the columns that hold protected attributes
audit {good} -s sex --held-out | --held-out speaks of a model
audit {good} --model {good} | cannot be loaded: it is no model file, or not the whole of one
audit {good} -s sex --drop race,hired,town,weight --certificate {d}/c.json | --certificate speaks of a model
audit {good} --model {model} --held-out --certificate {d}/nofolder/c.json | there is no folder {d}/
audit {good} --model {model} --label sexx | --label goes with --sensitive
audit {good} --model {model} --certificate {d}/c.json | of them were in the fit, and what they show says
audit {good} --model {model} --as-is | --as-is does not go with --model, which was fitted with its own
audit {good} -s sex --fail-above acu=0.6 | --fail-above acu is no figure of an audit; there are promise, mmd2, unbiased
audit {good} -s sex --fail-above auc=1 --junit /nowhere/x.xml | there is no folder /nowhere; make it first
fit {good} -s sex --fail-above auc=high | --fail-above auc=high must give each figure a number
fit {good} -s sex --github | --github reports limits; name them with --fail-above
path {good} -s sex --out {d}/nofolder/c.csv | there is no folder {d}/
path {good} -s sex --out {good} | --out: {good} would be written over, and it is read
compare {good} -s sexx | did you mean 'sex'?
compare {good} -s sex --methods LEECE | --methods LEECE is unknown; choose one of AugmentedPCA
compare {good} -s sex --scales | --scales: FairPCA-scales is among the methods
compare {good} -s sex --out {good} | would be written over
compare {good} -s sex --tolerance 0 | --tolerance 0 must be auto, a number above 0
plan -- -1 | epsilon -1.0 must be between 0 and 2
plan 0.01 --groups 1,2,3 | --groups 1,2,3 must be two numbers such as 200,800 or 0.2,0.8
plan 0.01 --groups 5,5 | --groups 5,5 makes 5 and 5 rows, and with fewer than 10 in a group
plan 0.01 --groups 200,800 --rows 500 | --rows 500 goes with shares
plan 0.01 --confidence 0.3 | --confidence 0.3 must be a number of at least 0.5 and less than 1,
plan 1e-12 | epsilon 1e-12 is less than 1e+09 rows could show, 8.8e-09: no audit
verify {model} {cert} {good} | is no certificate: its text cannot be read as JSON (it is no text)
verify {good} {model} {good} | is no certificate: its text cannot be read as JSON (
verify {d}/nothing {model} {good} | {d}/nothing: no such file or directory
verify {d}/out/metrics.json {model} {good} | is no certificate: it does not say that its format is 'fairpca
verify /dev/null {model} {good} | /dev/null is no certificate: its text cannot be read as JSON
monitor {cert} {model} {d}/nothing | does not exist
monitor {cert} {cert} {good} | cannot be loaded: it is no model file, or not the whole of one
monitor {model} {model} {good} | is no certificate: its text cannot be read as JSON
monitor {cert} {model} {good} --state {good} | --state: {good} would be written over, and it is read
monitor {cert} {model} {good} --plot {d} | --plot: {d} is a folder
monitor {cert} {model} {good} --state {lacking} | is no whole state of a monitor
monitor {cert} {model} {lacking} | lacks the column 'income'
monitor {cert} {d}/odds/model.fairpca {good} | model is another than the certified one
monitor {cert} {model} {gaps} | row 4 has no value in 'age'
monitor {cert} {model} {good} -s sexx | did you mean 'sex'?
fitt {good} | no such command 'fitt'. Did you mean 'fit'
transform {model} {lacking} | lacks the column 'income'; did you mean 'incomes'?
transform {fair_pca} {good} | holds a FairPCA without the way from a table to its features
fit {gaps} -s sex | use --missing fill or --missing drop-rows
fit {lonely} -s sex | 'x' (1 row)
fit {nameless} -s sex | --missing-sensitive group
fit {dated} -s sex | 'age' is a date: name it in --dates to make numbers of it, or leave it out with --drop
transform {model} {gaps} | row 4 has no value in 'age'
transform {model} {strange} --unknown refuse | 'sea' in 'work' (3 rows)
transform {model} {words} | column 'age' holds 'old' in row 5, where finite numbers are expected
transform {newer} {good} | it was written by a newer version
transform {truncated} {good} | it is no model file, or not the whole of one
audit {other} --model {model} --held-out | is not the table of the fit, or not as it was then
audit {good} --model {model} --held-out --certificate {model} | would be written over, and it is read
audit {good} --model {d}/odds/model.fairpca -s sex | --label is needed: the model was fitted with --fairness
audit {good} -s sex --weight {good} | is no column of
fit {d}/out/projected.csv -s row --out {d}/out | would be written over, and it is read
"""
