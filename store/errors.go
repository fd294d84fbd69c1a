package store

import "fmt"

// Error is a user-facing error. Its kind determines the status of a response.
type Error struct {
	kind, message string
}

// Error returns the message.
func (e *Error) Error() string { return e.message }

// Kind returns "not-found", "invalid", "conflict", "too-many", "busy" or "storage".
func (e *Error) Kind() string { return e.kind }

// ItemError is the error of one of several items.
type ItemError struct {
	Item string // such as "run 5"
	Err  error
}

// Error returns the item and the message of its error.
func (e *ItemError) Error() string { return e.Item + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *ItemError) Unwrap() error { return e.Err }

// Errors that callers distinguish. They may be wrapped with details for the log.
var (
	// ErrNotFound: the item does not exist or belongs to another workspace.
	ErrNotFound = &Error{"not-found", "This is not in your workspace: it may have been deleted, or it belongs to another workspace."}
	// ErrReused: the request's key was used for a different request.
	ErrReused = &Error{"invalid", "This Idempotency-Key was used before with a different request. Nothing was created; use a new key for each request, and repeat a key only with the same request."}
	// ErrEnded: a run, search or study that has ended cannot be cancelled.
	ErrEnded = &Error{"conflict", "There is nothing to cancel: this has already ended."}
	// ErrClosed: the course accepts no runs.
	ErrClosed = &Error{"conflict", "This course is closed and takes no hand-ins. Your runs stay your own."}
	// ErrOver: the course has ended.
	ErrOver = &Error{"conflict", "This course has ended and no longer takes hand-ins or answers. Your runs stay your own."}
	// ErrBlocked: the teacher has blocked the workspace from the course.
	ErrBlocked = &Error{"conflict", "Your teacher has blocked this workspace: the course takes no hand-ins or answers from it. Your runs stay your own."}
	// ErrNames: the workspace has submitted under MaxNames names.
	ErrNames = &Error{"conflict", fmt.Sprintf("You have handed in under %d names, the maximum in a course. Hand in under one of them again to replace that run, or withdraw one first.", MaxNames)}
	// ErrNoResult: a run that failed or was cancelled cannot be handed in.
	ErrNoResult = &Error{"conflict", "This run has no result to hand in: it failed or was cancelled."}
	// ErrGalleryFull: maxHandins runs were handed in.
	ErrGalleryFull = &Error{"conflict", "The gallery of this course is full. Ask your teacher to make room."}
	// ErrPollClosed: the poll accepts no answers.
	ErrPollClosed = &Error{"conflict", "The question was closed before your answer arrived, so it does not count; an earlier answer of yours does. Wait here for the next question."}
	// ErrAskedOn: the poll is in a later round, or another one has replaced it.
	ErrAskedOn = &Error{"conflict", "Your answer came too late to count: your teacher has moved on. Answer the current question."}
	// ErrRounds: the question was asked MaxRounds times.
	ErrRounds = &Error{"conflict", fmt.Sprintf("A question can be asked %d times in a course. Delete its answers to start again.", MaxRounds)}
	// ErrAsked: the teacher's question has been asked.
	ErrAsked = &Error{"conflict", "This question has been asked. Delete its answers before you change it, or write a new one."}
	// ErrCrowded: maxStudents students have answered in the course.
	ErrCrowded = &Error{"conflict", fmt.Sprintf("%d students have answered in this course, the maximum. Tell your teacher.", maxStudents)}
	// ErrTooMany: MaxQueuedEach runs of the workspace are waiting.
	ErrTooMany = &Error{"too-many", fmt.Sprintf("%d of your runs are waiting to be trained, the maximum. Wait until some have ended, or cancel some.", MaxQueuedEach)}
	// ErrSearching: maxSearchingEach searches of the workspace are unfinished.
	ErrSearching = &Error{"too-many", fmt.Sprintf("%d of your searches are running, the maximum. Wait until some have ended, or cancel some.", maxSearchingEach)}
	// ErrStudying: maxStudying studies of the workspace are unfinished.
	ErrStudying = &Error{"too-many", fmt.Sprintf("%d of your studies are running, the maximum. Wait until one has ended, or cancel one.", maxStudying)}
	// ErrStudied: a search of a study is deleted with the study.
	ErrStudied = &Error{"conflict", "This search is part of a study: delete the study to delete its searches."}
	// ErrQueueFull: the queue of runs, searches or studies is full (maxQueued, MaxSearching,
	// maxStudyingAll).
	ErrQueueFull = &Error{"busy", "Too many runs, searches and studies are waiting. Try again in a moment."}
	// ErrBusy: another process has locked the database for too long.
	ErrBusy = &Error{"busy", "The database is in use by another program. Nothing was saved; try again in a moment."}
	// ErrFull: the disk is full.
	ErrFull = &Error{"storage", "The disk is full. Nothing was saved; free some space and try again."}
	// ErrLow: the disk has room for small writes only.
	ErrLow = &Error{"storage", "The disk of this server is nearly full: uploads, runs and searches are refused until there is space. Nothing was saved. Hand-ins, answers and deletions still work; delete what you do not need."}
	// ErrMaxDisk: all workspaces together have reached MaxDisk.
	ErrMaxDisk = &Error{"storage", "The server's storage is full. Nothing was saved. Delete what you do not need, or ask the operator for more (--max-disk)."}
	// ErrReadOnly: the database cannot be written.
	ErrReadOnly = &Error{"storage", "The database cannot be written: its file or directory is read-only. Nothing was saved; make it writable or choose another data directory."}
	// ErrDisk: the disk failed in some other way.
	ErrDisk = &Error{"storage", "The disk reported an error. Nothing was saved."}
	// ErrGone: the database was deleted or replaced while it was open.
	ErrGone = &Error{"storage", "The database was deleted or replaced while the server was running. Nothing was saved. The operator must restart the server."}
	// ErrDamaged: Inspect has found damage.
	ErrDamaged = &Error{"storage", "The database is damaged. Undamaged parts keep working. Operators: marginlab check reports the damage, marginlab restore restores a backup."}
	// ErrHeld: another process holds the lock of the data directory.
	ErrHeld = &Error{"busy", "Another program is using this directory: stop it first, or choose another directory with --data-dir."}
	// ErrNewer: a later version of the program has written the database.
	ErrNewer = &Error{"storage", "The database was written by a newer version of this program."}
	// ErrForeign: the file is a database of another program.
	ErrForeign = &Error{"storage", "The database file belongs to another program. Choose another data directory."}
	// ErrNotDatabase: the file is damaged or something else.
	ErrNotDatabase = &Error{"storage", "The database file is damaged or is not a database."}
)
