package main

import (
	"os"
	"testing"
)

func TestIdentityIsLoaded(t *testing.T) {
	made, err := newIdentity(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if i, err := loadIdentity("", "", ""); i != nil || err != nil || i.certificates() {
		t.Errorf("%v, %v", i, err)
	}
	if i, err := loadIdentity("", "", "x"); err != nil || i.certificates() || i.token != "x" {
		t.Errorf("%v, %v", i, err)
	}
	if _, err := loadIdentity(made.authorityFile(), os.DevNull, ""); err == nil {
		t.Error("no error for a key that is none")
	}
}
