"""Command lines of `saved_model_cli`, one to a line: TensorFlow records what they print, ours must print the same."""

_EXAMPLES = "run --dir examples --tag_set serve --signature_def serving_default --input_examples "
COMMANDS = """
show --dir module
show --dir module/
show --dir=module --tag_set=serve
show --dir module --tag_set serve --signature_def serving_default
show --dir module --tag_set serve --signature_def words
show --dir module --tag_set serve --signature_def count
show --dir module --tag_set serve --signature_def anything
show --dir module --tag_set serve --signature_def types
show --dir module --tag_set serve --signature_def __saved_model_init_op
show --dir module --tag_set serve --signature_def nothing
show --dir module --tag_set serve --list_ops
show --dir module --list_ops
show --dir module --signature_def words
show --dir module --tag_set serve --signature_def words --list_ops
show --dir module --all
show --dir module --all --tag_set serve --signature_def words
show --dir module --all --nolist_ops
show --dir module --noall
show --dir module --all=true
show --dir functions --all
show --dir examples --all
show --dir dense --all
show --dir graphs
show --dir graphs --tag_set serve
show --dir graphs --tag_set gpu,serve
show --dir graphs --tag_set serve,gpu
show --dir graphs --tag_set serve,gpu --signature_def other
show --dir graphs --tag_set serve --signature_def total
show --dir graphs --tag_set serve,gpu --list_ops
show --dir graphs --all
show --dir graphs --tag_set gpu
show --dir module --tag_set train
show --dir module --tag_set ''
show --dir nowhere
show --dir .
show
scan --dir reader
scan --dir module
scan --dir module --tag_set serve
scan --dir module --tag_set serve --op_denylist ReadVariableOp,AddV2,Nothing
scan --dir module --op_denylist Nothing
scan --dir module --op_denylist ''
scan --dir graphs
scan --dir graphs --op_denylist VarHandleOp
scan --dir graphs --tag_set gpu,serve --op_denylist VarHandleOp
scan --dir examples
scan --dir module --tag_set train
scan --dir nowhere
scan
run --dir module --tag_set serve --signature_def serving_default --inputs x=x.npy --input_exprs y=2
run --dir module --tag_set serve --signature_def serving_default --inputs 'x=xy.npz[x];y=xy.npz[y]'
run --dir module --tag_set serve --signature_def serving_default --inputs 'x=only.npz;y=xy.npz[y]'
run --dir module --tag_set serve --signature_def serving_default --inputs 'x=xy.npz;y=xy.npz[y]'
run --dir module --tag_set serve --signature_def serving_default --inputs 'x=xy.npz[z];y=xy.npz[y]'
run --dir module --tag_set serve --signature_def serving_default --inputs 'x=x.npy[x];y=xy.npz[y]'
run --dir module --tag_set serve --signature_def serving_default --inputs x=x.pickle --input_exprs y=2
run --dir module --tag_set serve --signature_def serving_default --inputs x=bytes.txt --input_exprs y=2
run --dir module --tag_set serve --signature_def serving_default --inputs x=nothing.npy --input_exprs y=2
run --dir module --tag_set serve --signature_def serving_default --inputs x=wide.npy --input_exprs y=2
run --dir module --tag_set serve --signature_def serving_default --inputs 'x=x.npy;y=x.npy' --input_exprs y=2
run --dir module --tag_set serve --signature_def serving_default --inputs x.npy --input_exprs y=2
run --dir module --tag_set serve --signature_def serving_default --inputs 'x=x.npy;' --input_exprs y=2
run --dir module --tag_set serve --signature_def serving_default --inputs 'x = x.npy' --input_exprs y=2
run --dir module --tag_set serve --signature_def serving_default --input_exprs 'x=[[1.0, 2.0]];y=2'
run --dir module --tag_set serve --signature_def serving_default --input_exprs 'x=[[1, 2]]; y=2'
run --dir module --tag_set serve --signature_def serving_default --input_exprs 'x=[[1, 2]];y=2.5'
run --dir module --tag_set serve --signature_def serving_default --input_exprs 'x=[[1, 2]]'
run --dir module --tag_set serve --signature_def serving_default --input_exprs 'x=[[1, 2]];y=2;z=3'
run --dir module --tag_set serve --signature_def serving_default --input_exprs 'x=[[1, 2, 3]];y=2'
run --dir module --tag_set serve --signature_def serving_default --input_exprs 'x=[[1, 2'
run --dir module --tag_set serve --signature_def serving_default --input_exprs 'x'
run --dir module --tag_set serve --signature_def serving_default --input_exprs 'x=open("x.npy")'
run --dir module --tag_set serve --signature_def serving_default
run --dir module --tag_set serve --signature_def nothing --input_exprs x=1
run --dir module --tag_set train --signature_def serving_default --input_exprs x=1
run --dir nowhere --tag_set serve --signature_def serving_default --input_exprs x=1
run --dir module --signature_def serving_default
run --dir module --tag_set serve
run --dir module --tag_set serve --signature_def words --input_exprs "words=['some', 'words']"
run --dir module --tag_set serve --signature_def words --input_exprs "words=[b'some']"
run --dir module --tag_set serve --signature_def words --input_exprs "words=['a=b']"
run --dir module --tag_set serve --signature_def count --input_exprs x=1
run --dir module --tag_set serve --signature_def types --input_exprs 'b=[True, False];c=1+2j;i=3'
run --dir module --tag_set serve --signature_def types --input_exprs 'b=[True, False];c=1+2j;i=300'
run --dir module --tag_set serve --signature_def anything --input_exprs any=[[1],[2]]
run --dir module --tag_set serve --signature_def anything --input_exprs any=2.5 --outdir out
run --dir module --tag_set serve --signature_def anything --input_exprs any=2.5 --outdir=out
run --dir module --tag_set serve --signature_def anything --input_exprs any=3.5 --outdir out --overwrite
run --dir module --tag_set serve --signature_def words --input_exprs "words=['some']" --outdir made/deep
run --dir dense --tag_set serve --signature_def serving_default --input_exprs 'features=[[1, 2, 3]]'
run --dir dense --tag_set serve --signature_def serve --input_exprs 'features=[[1, 2, 3]]'
run --dir graphs --tag_set serve --signature_def serving_default --input_exprs 'x=[1, 2]'
run --dir graphs --tag_set serve,gpu --signature_def other --input_exprs 'x=[1, 2]'
run --dir graphs --tag_set serve --signature_def total --input_exprs 's=[[1, 2]]'
{examples}'serialized=[{"ids":[26],"weights":[0.5, 0.5]}]'
{examples}'serialized=[{"ids":[26,27],"name":["a"]},{"name":[b"b"]}]'
{examples}'serialized=[{"ids":[26.5]}]'
{examples}'serialized=[{"ids":26}]'
{examples}'serialized={"ids":[26]}'
{examples}'serialized=[{"ids":[{}]}]'
{examples}'serialized=[{"ids":[]}]'
{examples}'serialized=[]'
{examples}'serialized'
{examples}'serialized=[{"ids":[1]'
run
""".replace("{examples}", _EXAMPLES).strip().splitlines()
