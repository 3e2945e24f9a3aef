package persist

import (
	"errors"
	"fmt"
	"path/filepath"
)

// missingFrom says what the segment that the watermark names lacks, "" if nothing.
//
// The cases go from the most that can be missing to the least. The checksum of the last batch is compared besides its
// place, since
// another copy of the file may be as long. The length of the file is compared because
// batches after the watermark are only noticed by the zeros that were written ahead of them.
func (m watermark) missingFrom(done scanResult) string {
	switch {
	case done.end == 0:
		return "has lost its header (" + done.torn + ")"
	case done.end < m.end:
		return fmt.Sprintf("ends at offset %d with revision %d, but batches up to offset %d and revision %d were durable",
			done.end, done.next-1, m.end, m.newest)
	case done.sumAtOffset != m.sum:
		return fmt.Sprintf("holds other batches before offset %d than were durable", m.end)
	case done.size < m.length:
		return fmt.Sprintf("has %d bytes, but had at least %d: batches at its end may be gone", done.size, m.length)
	}
	return ""
}

// segmentLoss is the loss of the whole segment that the watermark names.
func (m watermark) segmentLoss(dir string) *DataLossError {
	return &DataLossError{File: filepath.Join(journalDir(dir), fileName(m.segment, segmentSuffix)), What: "is missing, the newest file of the journal"}
}

// revisionLoss is the loss of revisions that cannot be ascribed to one file.
func (m watermark) revisionLoss(dir string, last Revision) *DataLossError {
	return &DataLossError{File: snapshotsDir(dir), What: fmt.Sprintf("and the journal end with revision %d, but the state had reached %d", last, m.newest)}
}

// lostUnsynced says that the journal was not closed, and that the machine was restarted since, which
// loses what was not synced.
func (m watermark) lostUnsynced(boot string) bool {
	return m.unsynced && !m.clean && (m.bootID == "" || m.bootID != boot)
}

// journalLoss is the loss of a journal that ends before the snapshot.
func journalLoss(s segment, last, base Revision) error {
	return &DataLossError{File: s.path, What: fmt.Sprintf("ends with revision %d, before the snapshot at %d", last, base)}
}

// lossOf answers the loss in an error; nil if it is about something else.
func lossOf(err error) *DataLossError {
	var loss *DataLossError
	errors.As(err, &loss)
	return loss
}
