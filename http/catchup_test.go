package http

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

// TestRefusalsCatchUp checks that only certain source files call authenticators and authorizers.
// These files either catch up before a rejection or recheck long-running requests.
func TestRefusalsCatchUp(t *testing.T) {
	may := map[string]bool{"catchup.go": true, "reauthorization.go": true, "options.go": true}
	files := must.Get(os.ReadDir("."))(t)
	for _, f := range files {
		if name := f.Name(); !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || may[name] {
			continue
		}
		positions := token.NewFileSet()
		file := must.Get(parser.ParseFile(positions, f.Name(), nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			field, ok := n.(*ast.SelectorExpr)
			if !ok || field.Sel.Name != "Authorizer" && field.Sel.Name != "Authenticator" {
				return true
			}
			if of, ok := field.X.(*ast.SelectorExpr); ok && of.Sel.Name == "opts" {
				t.Errorf("%s: use Server.decide or Server.authenticateUser, which catch up with other daemons", positions.Position(n.Pos()))
			}
			return true
		})
	}
}
