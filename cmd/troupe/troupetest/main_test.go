package troupetest_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that servers leak no goroutine except the documented one.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}
