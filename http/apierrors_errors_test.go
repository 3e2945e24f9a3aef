package http_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// TestCodes tests status codes, reasons and Retry-After, which clients rely on.
func TestCodes(t *testing.T) {
	for _, c := range []struct {
		got        *meta.Status
		code       int
		reason     meta.Reason
		retryAfter bool
	}{
		{apierrors.BadRequest("x"), 400, meta.ReasonBadRequest, false},
		{apierrors.Unauthorized(), 401, meta.ReasonUnauthorized, false},
		{apierrors.PathNotFound(), 404, meta.ReasonNotFound, false},
		{apierrors.MethodNotAllowed(), 405, meta.ReasonMethodNotAllowed, false},
		{apierrors.NotAcceptable("x"), 406, meta.ReasonNotAcceptable, false},
		{apierrors.RequestTimeout(), 408, meta.ReasonTimeout, false},
		{apierrors.RequestTooLarge(1), 413, meta.ReasonRequestTooLarge, false},
		{apierrors.UnsupportedMedia([]string{"a", "b"}), 415, meta.ReasonUnsupportedMediaType, false},
		{apierrors.TooManyRequests(), 429, meta.ReasonTooManyRequests, true},
		{apierrors.InternalError("id"), 500, meta.ReasonInternalError, false},
		{apierrors.ShuttingDown(), 503, meta.ReasonServiceUnavailable, true},
		{apierrors.GatewayTimeout(), 504, meta.ReasonTimeout, false},
	} {
		retry := c.got.Details != nil && c.got.Details.RetryAfterSeconds > 0
		if c.got.Code != c.code || c.got.Reason != c.reason || retry != c.retryAfter || c.got.Message == "" {
			t.Errorf("%d: %+v", c.code, c.got)
		}
	}
	if first, second := apierrors.TooManyRequests(), apierrors.TooManyRequests(); first == second {
		t.Error("a Status is shared")
	}
}

// TestInvalidOptions tests that one Status reports all option errors, with one cause per error.
func TestInvalidOptions(t *testing.T) {
	var f schema.Faults
	if err := apierrors.InvalidOptions("meta.example.io", "ListOptions", f); err != nil {
		t.Errorf("no faults are %v", err)
	}
	f.Required("a", "is required")
	f.Required("b", "is required")
	status := meta.AsStatus(apierrors.InvalidOptions("meta.example.io", "ListOptions", f))
	if status.Code != 422 || len(status.Details.Causes) != 2 || !strings.HasPrefix(status.Message, `ListOptions.meta.example.io "" is invalid: [a: `) {
		t.Errorf("%+v", status)
	}
}
