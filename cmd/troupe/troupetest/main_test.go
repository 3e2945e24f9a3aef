package troupetest_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes sure that servers leave no goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
