package cel

import (
	"strings"
	"testing"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// TestGuardedPatterns checks that a short regular expression that compiles to a large program is
// rejected.
func TestGuardedPatterns(t *testing.T) {
	bomb := "(" + strings.Repeat("x", 3000) + "){1000}"
	for _, function := range []string{"find", "findAll", guardedMatches} {
		if !isTooCostly(function, []ref.Val{types.String("a"), types.String(bomb)}) {
			t.Errorf("%s compiles a program of millions", function)
		}
	}
}
