// Package events holds the rules of events, which two groups serve: the core group, where they are
// stored, and events, where fields have other names and new events have more of them.
package events
