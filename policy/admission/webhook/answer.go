package webhook

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/tree"
)

type answer struct {
	allowed     bool
	result      tree.Tree // Status of a denial, or nil
	patch       []any     // operations of the JSON Patch
	patchText   []byte
	warnings    []string
	annotations tree.Tree // for the audit event
}

var errUndecodable = errors.New("received undecodable patch in webhook response")

// verify parses and validates an AdmissionReview response. For v1beta1, it does not check uid, kind
// and patchType, because older webhooks omit these fields.
func verify(t tree.Tree, q question, version string, s sort) (*answer, error) {
	response, ok := t["response"].(tree.Tree)
	if !ok {
		return nil, errors.New("webhook response was absent")
	}
	if version == "v1" {
		if err := verifyIdentity(t, response, q); err != nil {
			return nil, err
		}
		if err := verifyPatch(response, s); err != nil {
			return nil, err
		}
	}
	allowed, isBool := response["allowed"].(bool)
	if !isBool && response.Has("allowed") {
		return nil, errors.New("response.allowed is neither true nor false")
	}
	a := &answer{allowed: allowed, result: response.Object("status"), annotations: response.Object("auditAnnotations")}
	for _, text := range response.Strings("warnings") {
		a.warnings = append(a.warnings, strings.ToValidUTF8(text, ""))
	}
	if s == validating {
		return a, nil
	}
	var err error
	if a.patchText, err = base64.StdEncoding.DecodeString(response.String("patch")); err != nil {
		return nil, fmt.Errorf("response.patch is not base64: %w", err)
	}
	return a, nil
}

// verifyIdentity rejects a response to another request, such as one mixed up by a proxy.
func verifyIdentity(t, response tree.Tree, q question) error {
	if uid := response.String("uid"); uid != q.uid {
		return fmt.Errorf("expected response.uid=%q, got %q", q.uid, uid)
	}
	if version, kind := t.String("apiVersion"), t.String("kind"); version != q.apiVersion || kind != reviewKind {
		return fmt.Errorf("expected webhook response of %s, Kind=%s, got %s, Kind=%s", q.apiVersion, reviewKind, version, kind)
	}
	return nil
}

// verifyPatch requires patch and patchType to be set together. Only mutating webhooks may set them.
func verifyPatch(response tree.Tree, s sort) error {
	patched, typed := response.String("patch") != "", response.Has("patchType")
	switch {
	case s == validating && patched:
		return errors.New("validating webhook may not return response.patch")
	case s == validating && typed:
		return errors.New("validating webhook may not return response.patchType")
	case patched && !typed:
		return errors.New("webhook returned response.patch but not response.patchType")
	case typed && !patched:
		return errors.New("webhook returned response.patchType but not response.patch")
	case typed && response.String("patchType") == "":
		return fmt.Errorf("webhook returned invalid response.patchType of %q", "")
	case typed && response.String("patchType") != jsonPatch:
		return fmt.Errorf("unsupported patch type %q", response.String("patchType"))
	}
	return nil
}

const jsonPatch = "JSONPatch"

// readPatch decodes the patch for the audit annotation. Package merge decodes patchText itself to
// apply the patch.
func (a *answer) readPatch() error {
	if len(a.patchText) == 0 {
		return nil
	}
	v, _, err := codec.DecodeAny(a.patchText)
	if err != nil {
		return fmt.Errorf("%w: %w", errUndecodable, err)
	}
	list, ok := v.([]any)
	if !ok && v != nil {
		return fmt.Errorf("%w: it is not a list", errUndecodable)
	}
	for _, operation := range list {
		if _, ok := operation.(tree.Tree); !ok {
			return fmt.Errorf("%w: an operation is not an object", errUndecodable)
		}
	}
	a.patch = list
	return nil
}
