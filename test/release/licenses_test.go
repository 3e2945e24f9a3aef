package main

import (
	"slices"
	"strings"
	"testing"
)

// TestIdentify checks which licenses dependencies may have.
func TestIdentify(t *testing.T) {
	t.Parallel()
	const (
		mit    = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the \"Software\"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:\n\nThe above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.\n\nTHE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.\n"
		apache = "Licensed under the Apache License, Version 2.0 (the \"License\"); you may not use this file except in compliance with the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0"
		mpl    = "This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was not distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/."
	)
	for name, test := range map[string]struct {
		text, err string
		licenses  []string
	}{
		"MIT":     {text: mit, licenses: []string{"MIT"}},
		"both":    {text: mit + apache, licenses: []string{"MIT", "Apache-2.0"}},
		"MPL":     {text: mpl, err: "the license MPL-2.0 is not allowed"},
		"one MPL": {text: mit + mpl, err: "the license MPL-2.0 is not allowed"},
		"unknown": {text: "Use it as you like.", err: "the license is unknown"},
	} {
		var c component
		err := c.identify(test.text)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: got %v, want %s", name, err, test.err)
			}
			continue
		}
		if err != nil || !slices.Equal(c.licenses, test.licenses) {
			t.Errorf("%s: got %q, %v, want %q", name, c.licenses, err, test.licenses)
		}
	}
}
