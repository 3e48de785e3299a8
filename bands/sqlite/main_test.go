package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// writerVar makes the test binary run a writer instead of tests.
const writerVar = "SQLITE_TEST_WRITER"

func TestMain(m *testing.M) {
	if job := os.Getenv(writerVar); job != "" {
		if err := write(job); err != nil {
			fmt.Println("failed", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testkit.InMemory(m).Run())
}

// job describes the work of a writer.
type job struct {
	Path    string
	Pragmas []string
	Setup   []string // statements
	Loop    bool     // commit until the input ends; else run statements from it
	Rhythm  time.Duration
}

const schema = `CREATE TABLE IF NOT EXISTS counter(n INTEGER);
CREATE TABLE IF NOT EXISTS pages(id INTEGER PRIMARY KEY, n INTEGER, body BLOB);
CREATE TABLE IF NOT EXISTS mirror(n INTEGER);
INSERT INTO counter SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM counter);
INSERT INTO mirror SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM mirror);`

// slots is the number of rows in pages: the nth commit writes row n%slots.
const slots = 300

func open(path string, pragmas ...string) (*sql.DB, error) {
	query := url.Values{"_pragma": append([]string{"busy_timeout(0)"}, pragmas...), "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+query.Encode())
	if err == nil {
		db.SetMaxOpenConns(1)
		err = db.PingContext(context.Background())
	}
	return db, err
}

// write is the writer's process: it prints "ready", the number of each commit, and at the end
// the duration of the slowest.
func write(encoded string) error {
	var j job
	if err := json.Unmarshal([]byte(encoded), &j); err != nil {
		return err
	}
	db, err := open(j.Path, j.Pragmas...)
	if err != nil {
		return err
	}
	ctx := context.Background()
	for _, statement := range append([]string{schema}, j.Setup...) {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	fmt.Println("ready")
	if !j.Loop {
		return execute(ctx, db)
	}
	var stop atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop.Store(true)
	}()
	var slowest time.Duration
	rhythm := time.NewTicker(max(j.Rhythm, time.Nanosecond))
	defer rhythm.Stop()
	for n := 1; !stop.Load(); n++ {
		start := time.Now()
		if err := commit(ctx, db, n); err != nil {
			return fmt.Errorf("commit %d: %w", n, err)
		}
		slowest = max(slowest, time.Since(start))
		fmt.Println(n)
		if j.Rhythm > 0 {
			<-rhythm.C
		}
	}
	fmt.Println("ended; slowest", slowest)
	return db.Close()
}

// execute executes the statements in the input, one per line.
func execute(ctx context.Context, db *sql.DB) error {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if _, err := db.ExecContext(ctx, in.Text()); err != nil {
			return fmt.Errorf("%s: %w", in.Text(), err)
		}
		fmt.Println("done")
	}
	err := db.Close()
	fmt.Println("ended")
	return err
}

// commit makes the nth transaction, before every seventh a large one that spills into the file
// and is rolled back.
func commit(ctx context.Context, db *sql.DB, n int) error {
	if n%7 == 0 {
		if err := transaction(ctx, db, n, 40, (*sql.Tx).Rollback); err != nil {
			return err
		}
	}
	rows := 1
	if n%11 == 0 {
		rows = 60 // spills too
	}
	return transaction(ctx, db, n, rows, (*sql.Tx).Commit)
}

func transaction(ctx context.Context, db *sql.DB, n, rows int, end func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for row := range rows {
		body := make([]byte, 100+rand.IntN(6000))
		for i := 0; i < len(body); i += 64 {
			body[i] = byte(rand.Uint32())
		}
		id, at := n%slots, n
		if row > 0 { // other rows keep their number and get a new body
			id, at = rand.IntN(slots), 0
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO pages VALUES(?1,?2,?3) ON CONFLICT(id) DO UPDATE SET
			n=CASE ?2 WHEN 0 THEN n ELSE ?2 END, body=?3`, id, at, body)
		if err != nil {
			return err
		}
	}
	for _, table := range []string{"counter", "mirror"} {
		if _, err := tx.ExecContext(ctx, "UPDATE "+table+" SET n=?", n); err != nil {
			return err
		}
	}
	return end(tx)
}

// writer is a writer process.
type writer struct {
	cmd     *exec.Cmd
	in      *os.File
	commits atomic.Int64
	more    chan struct{} // sent to after each commit if wait is receiving
	lines   chan string   // all output except commits
	ended   bool
}

// start starts a writer and waits until it is ready.
func start(t testing.TB, j job) *writer {
	t.Helper()
	encoded, err := json.Marshal(j)
	check(t, err)
	self, err := os.Executable()
	check(t, err)
	r, in, err := os.Pipe()
	check(t, err)
	w := &writer{cmd: exec.Command(self), in: in, more: make(chan struct{}), lines: make(chan string, 10)}
	w.cmd.Env = append(os.Environ(), writerVar+"="+string(encoded))
	w.cmd.Stdin = r
	w.cmd.Stderr = os.Stderr
	out, err := w.cmd.StdoutPipe()
	check(t, err)
	check(t, w.cmd.Start())
	_ = r.Close()
	go w.read(bufio.NewScanner(out))
	t.Cleanup(func() {
		if !w.ended {
			_ = w.cmd.Process.Kill()
			_ = w.cmd.Wait()
		}
		_ = in.Close()
	})
	if line := <-w.lines; line != "ready" {
		t.Fatalf("the writer: %s", line)
	}
	return w
}

func (w *writer) read(out *bufio.Scanner) {
	defer close(w.lines)
	for out.Scan() {
		var n int64
		if _, err := fmt.Sscan(out.Text(), &n); err != nil {
			w.lines <- out.Text()
			continue
		}
		w.commits.Store(n)
		select {
		case w.more <- struct{}{}:
		default:
		}
	}
}

// wait waits for the given number of further commits.
func (w *writer) wait(t testing.TB, commits int64) {
	t.Helper()
	deadline := time.After(time.Minute)
	for end := w.commits.Load() + commits; w.commits.Load() < end; {
		select {
		case <-w.more:
		case line := <-w.lines:
			t.Fatalf("the writer: %s", line)
		case <-deadline:
			t.Fatal("the writer has stopped")
		}
	}
}

// do executes the statements in a writer that doesn't loop.
func (w *writer) do(t testing.TB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		_, err := fmt.Fprintln(w.in, statement)
		check(t, err)
		if line := <-w.lines; line != "done" {
			t.Fatalf("the writer: %s", line)
		}
	}
}

// stop ends the writer and fails the test if the writer had an error.
func (w *writer) stop(t testing.TB) string {
	t.Helper()
	_ = w.in.Close()
	line := <-w.lines
	w.ended = true
	if err := w.cmd.Wait(); err != nil || !strings.HasPrefix(line, "ended") {
		t.Fatalf("the writer ended with %q, %v", line, err)
	}
	return line
}

// crash kills the writer.
func (w *writer) crash(t testing.TB) {
	t.Helper()
	check(t, w.cmd.Process.Kill())
	w.ended = true
	_ = w.cmd.Wait()
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// verify checks that the copy is intact and the state after a commit. It returns that commit.
func verify(t testing.TB, dir string) int64 {
	t.Helper()
	db, err := open(filepath.Join(dir, "x.db"))
	check(t, err)
	defer func() { check(t, db.Close()) }()
	var ok string
	check(t, db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&ok))
	if ok != "ok" {
		t.Fatalf("integrity_check: %s", ok)
	}
	var counter, mirror, highest, bad int64
	check(t, db.QueryRowContext(t.Context(), `SELECT (SELECT n FROM counter), (SELECT n FROM mirror),
		(SELECT coalesce(max(n),0) FROM pages),
		(SELECT count(*) FROM pages WHERE n>0 AND (id<>n%300 OR n<=(SELECT n FROM counter)-300))`).
		Scan(&counter, &mirror, &highest, &bad))
	if counter != mirror || counter != highest || bad != 0 {
		t.Fatalf("counter %d, mirror %d, highest %d, %d rows too old", counter, mirror, highest, bad)
	}
	return counter
}
