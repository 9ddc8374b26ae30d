package linear_test

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// cutPatience is for one question about a call that was cut off.
const cutPatience = 5 * time.Second

// cutOutcomes counts of the calls that were cut off which took effect for certain,
// and which did not: no order of the others makes sense without those, or with
// these.
func cutOutcomes(history []porcupine.Operation) (did, didNot int) {
	model := linearModel()
	for _, part := range model.Partition(history) {
		for i, o := range part {
			in := o.Input.(linearCall)
			if !in.cut || in.op == opExpire || in.op == opPurge {
				continue
			}
			without := slices.Delete(slices.Clone(part), i, i+1)
			if refuted(without) {
				did++
				continue
			}
			in.forced = true
			with := slices.Clone(part)
			with[i].Input = in
			if refuted(with) {
				didNot++
			}
		}
	}
	return did, didNot
}

// refuted reports whether the history of one push has no order for certain.
func refuted(part []porcupine.Operation) bool {
	model := linearModel()
	model.Partition = nil
	return porcupine.CheckOperationsTimeout(model, part, cutPatience) == porcupine.Illegal
}
