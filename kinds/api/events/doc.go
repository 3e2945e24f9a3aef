// Package events validates and defaults Events, which are stored in the core group's version. The
// events group serves them with other field names and requires more fields in new Events.
package events
