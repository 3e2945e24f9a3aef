package present

import (
	"strings"
	"time"
)

// showSubjects lists the subjects of one kind: users and groups by name, service accounts
// by namespace and name.
func showSubjects(b []byte, r *row, kind string) []byte {
	var names []string
	r.json.field("subjects").items(func(s value) bool {
		if s.field("kind").text() != kind {
			return true
		}
		name := s.field("name").text()
		if kind == "ServiceAccount" {
			name = s.field("namespace").text() + "/" + name
		}
		names = append(names, name)
		return true
	})
	return appendText(b, strings.Join(names, ", "))
}

func showRequestDuration(b []byte, r *row, _ string) []byte {
	seconds := r.json.at("spec.expirationSeconds")
	if !seconds.exists() {
		return appendText(b, none)
	}
	return appendText(b, humanDuration(time.Duration(seconds.number())*time.Second))
}

// showRequestCondition tells what became of a certificate signing request.
func showRequestCondition(b []byte, r *row, _ string) []byte {
	status := r.json.field("status")
	conditions := status.field("conditions")
	text := "Pending"
	switch {
	case condition(conditions, "Denied") != nil:
		text = "Denied"
	case condition(conditions, "Approved") != nil:
		text = "Approved"
	}
	if condition(conditions, "Failed") != nil {
		text += ",Failed"
	}
	if status.field("certificate").text() != "" {
		text += ",Issued"
	}
	return appendText(b, text)
}

// showParamRef names the parameters of an admission policy binding: by namespace and name,
// with * where the namespace is that of the request, or by what selects them.
func showParamRef(b []byte, r *row, _ string) []byte {
	p := r.json.at("spec.paramRef")
	text := ""
	if name := p.field("name").text(); name != "" {
		text = p.field("namespace").text()
		if text == "" {
			text = "*"
		}
		text += "/" + name
	} else if s := p.field("selector"); s.exists() {
		text = selectorText(s)
	}
	return appendOr(b, text, unset)
}

// showAPIService names the Service behind an APIService; "Local" is the server itself.
func showAPIService(b []byte, r *row, _ string) []byte {
	s := r.json.at("spec.service")
	if !s.exists() {
		return appendText(b, "Local")
	}
	return appendText(b, s.field("namespace").text()+"/"+s.field("name").text())
}

func showAPIAvailable(b []byte, r *row, _ string) []byte {
	c := condition(r.json.at("status.conditions"), "Available")
	if c == nil {
		return appendText(b, "Unknown")
	}
	text := c.field("status").text()
	if text != "True" {
		text += " (" + c.field("reason").text() + ")"
	}
	return appendText(b, text)
}
