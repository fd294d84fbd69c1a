package data_test

import (
	"testing"

	"marginlab/handlers/handlerstest"
)

func TestScripts(t *testing.T) { handlerstest.Scripts(t) }
