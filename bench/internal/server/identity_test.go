package server

import (
	"os"
	"testing"
)

func TestIdentityIsLoaded(t *testing.T) {
	made, err := NewIdentity(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if i, err := LoadIdentity("", "", ""); i != nil || err != nil || i.Certificates() {
		t.Errorf("%v, %v", i, err)
	}
	if i, err := LoadIdentity("", "", "x"); err != nil || i.Certificates() || i.Token != "x" {
		t.Errorf("%v, %v", i, err)
	}
	if _, err := LoadIdentity(made.AuthorityFile(), os.DevNull, ""); err == nil {
		t.Error("no error for a key that is none")
	}
}
