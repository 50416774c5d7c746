package catalog

import (
	"slices"
	"testing"
)

// TestExtras: each is a folder of its name with a document that lifts what
// starts commands and asks a human, and none is a bundled tool.
func TestExtras(t *testing.T) {
	b, err := builtins()
	if err != nil {
		t.Fatal(err)
	}
	if got := Extras(); !slices.Equal(got, []string{"runPython", "runShell"}) {
		t.Errorf("extras: %v", got)
	}
	for _, name := range Extras() {
		s, beside, err := Extra(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != name || slices.Contains(b.names, name) {
			t.Errorf("%s is called %s, bundled: %v", name, s.Name, slices.Contains(b.names, name))
		}
		if wrong := s.CheckCode(); len(wrong) > 0 {
			t.Error(wrong[0])
		}
		if s.Overrides == nil || !slices.Equal(s.Overrides.RemoveDenyClasses, []string{"java.lang.ProcessBuilder"}) {
			t.Errorf("%s asks for %+v", name, s.Overrides)
		}
		if h := s.HumanInTheLoop; h == nil || h.Mode == nil || *h.Mode != "REQUIRED" {
			t.Errorf("%s asks no human", name)
		}
		f, err := beside.Open("cases.json")
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if _, _, err := Extra("../tools/base64"); err == nil {
		t.Error("an extra that there is not")
	}
}
