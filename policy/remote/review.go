package remote

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ReadReview returns the status of a review, or the zero value if it has none.
func ReadReview[Status any](text []byte, apiVersion, kind string) (s Status, err error) {
	var review struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Status     Status `json:"status"`
	}
	if json.Unmarshal(text, &review) != nil {
		return s, errors.New("the response is not a valid JSON object")
	}
	if review.APIVersion != apiVersion || review.Kind != kind {
		return s, fmt.Errorf("the response has apiVersion %q, kind %q", review.APIVersion, review.Kind)
	}
	return review.Status, nil
}
