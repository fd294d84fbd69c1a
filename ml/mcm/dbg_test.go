package mcm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"marginlab/ml/mcm"
)

func TestDbg(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	p := randomProblem(rand.New(rand.NewPCG(seed, 7)))
	p.set.MaxIter = 3000
	r, err := mcm.Train(context.Background(), p.k, p.y, p.set)
	fmt.Println(p.name, r.Status, r.Iterations, r.Objective, r.DualObjective, r.Rank, err)
}
