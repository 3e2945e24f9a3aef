package troupetest_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes sure that servers leave no goroutine behind but the one that the package's documentation tells of.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}
