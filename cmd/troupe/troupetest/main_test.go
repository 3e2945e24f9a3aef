package troupetest_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that servers leak no goroutines except the documented ones.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}
