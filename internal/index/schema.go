package index

// schemaVersion is increased with every change of the tables or of their contents.
const schemaVersion = 15

// tables creates the tables in an empty database.
const tables = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, worktree TEXT NOT NULL, live TEXT NOT NULL, cursor TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '', titled INTEGER NOT NULL DEFAULT 0, started INTEGER NOT NULL DEFAULT 0, stored INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX sessions_stored ON sessions(stored) WHERE stored > 0;
CREATE TABLE turns (
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, key INTEGER NOT NULL, line INTEGER NOT NULL, ending INTEGER NOT NULL,
    at INTEGER NOT NULL, ended INTEGER NOT NULL, branch TEXT NOT NULL, prompt TEXT NOT NULL, context TEXT NOT NULL,
    commands INTEGER NOT NULL, failed INTEGER NOT NULL, files INTEGER NOT NULL, added INTEGER NOT NULL, removed INTEGER NOT NULL,
    marked INTEGER NOT NULL, copied INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, key)
);
CREATE INDEX turns_at ON turns(at) WHERE copied <> 1;
CREATE INDEX turns_key ON turns(key);
CREATE INDEX turns_context ON turns(context) WHERE context <> '';
CREATE TABLE texts (id INTEGER PRIMARY KEY, z BLOB NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(prompt, answer, command, output, file, subagent, content = '', contentless_delete = 1, tokenize = ascii);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
CREATE TABLE calls (
    id INTEGER PRIMARY KEY, turn INTEGER NOT NULL, line INTEGER NOT NULL, at INTEGER NOT NULL, tool TEXT NOT NULL, text TEXT NOT NULL,
    command INTEGER NOT NULL, outcome INTEGER NOT NULL, status INTEGER NOT NULL, agent TEXT NOT NULL
);
CREATE INDEX calls_turn ON calls(turn);
CREATE TABLE paths (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE files (
    turn INTEGER NOT NULL, path INTEGER NOT NULL, added INTEGER NOT NULL, removed INTEGER NOT NULL, source INTEGER NOT NULL,
    before BLOB NOT NULL, after BLOB NOT NULL,
    PRIMARY KEY (turn, path)
) WITHOUT ROWID;
CREATE INDEX files_path ON files(path);
CREATE TABLE models (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY, turn INTEGER NOT NULL, model INTEGER NOT NULL, sub INTEGER NOT NULL,
    input INTEGER NOT NULL, cache_write INTEGER NOT NULL, cache_read INTEGER NOT NULL, output INTEGER NOT NULL
);
CREATE INDEX messages_turn ON messages(turn);
CREATE TABLE copies (
    id INTEGER NOT NULL, turn INTEGER NOT NULL, model INTEGER NOT NULL, sub INTEGER NOT NULL,
    input INTEGER NOT NULL, cache_write INTEGER NOT NULL, cache_read INTEGER NOT NULL, output INTEGER NOT NULL,
    PRIMARY KEY (id, turn)
) WITHOUT ROWID;
CREATE INDEX copies_turn ON copies(turn);
CREATE TABLE shared (turn INTEGER PRIMARY KEY);
CREATE TABLE spent (
    turn INTEGER NOT NULL, model INTEGER NOT NULL, sub INTEGER NOT NULL,
    input INTEGER NOT NULL, cache_write INTEGER NOT NULL, cache_read INTEGER NOT NULL, output INTEGER NOT NULL, messages INTEGER NOT NULL,
    PRIMARY KEY (turn, model, sub)
) WITHOUT ROWID;
CREATE TABLE checkpoints (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, branch TEXT NOT NULL);
CREATE TABLE slots (
    session INTEGER NOT NULL, checkpoint INTEGER NOT NULL, at INTEGER NOT NULL, branch TEXT NOT NULL, files TEXT NOT NULL, rules INTEGER NOT NULL,
    imported INTEGER NOT NULL, unlinked INTEGER NOT NULL,
    PRIMARY KEY (session, checkpoint)
) WITHOUT ROWID;
CREATE INDEX slots_checkpoint ON slots(checkpoint);
CREATE TABLE parts (checkpoint INTEGER NOT NULL, turn INTEGER NOT NULL, PRIMARY KEY (checkpoint, turn)) WITHOUT ROWID;
CREATE INDEX parts_turn ON parts(turn);
CREATE TABLE authors (
    checkpoint TEXT NOT NULL, session TEXT NOT NULL, at INTEGER NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL, PRIMARY KEY (checkpoint, session)
) WITHOUT ROWID;
CREATE TABLE commits (
    oid TEXT NOT NULL, checkpoint TEXT NOT NULL, at INTEGER NOT NULL, author TEXT NOT NULL, email TEXT NOT NULL, subject TEXT NOT NULL,
    derived INTEGER NOT NULL, imported INTEGER NOT NULL, PRIMARY KEY (oid, checkpoint)
) WITHOUT ROWID;
CREATE INDEX commits_checkpoint ON commits(checkpoint);
CREATE TABLE lines (
    checkpoint TEXT NOT NULL, path TEXT NOT NULL, blob TEXT NOT NULL, at INTEGER NOT NULL, added TEXT NOT NULL, own TEXT NOT NULL, prints TEXT NOT NULL,
    PRIMARY KEY (checkpoint, path)
);
CREATE TABLE derived (oid TEXT NOT NULL, checkpoint TEXT NOT NULL, at INTEGER NOT NULL, lines INTEGER NOT NULL, PRIMARY KEY (oid, checkpoint)) WITHOUT ROWID;
CREATE INDEX derived_at ON derived(at);
CREATE TABLE refs (purpose TEXT NOT NULL, shard TEXT NOT NULL, tips TEXT NOT NULL, PRIMARY KEY (purpose, shard)) WITHOUT ROWID;
CREATE TABLE snapshots (
    version INTEGER PRIMARY KEY, turn INTEGER NOT NULL, cause TEXT NOT NULL, at INTEGER NOT NULL, base INTEGER NOT NULL
);
CREATE INDEX snapshots_turn ON snapshots(turn);
CREATE TABLE blobs (id INTEGER PRIMARY KEY);
`

// Kind is the kind of a text of a turn.
type Kind int

// The kinds, in the order of the columns of words.
const (
	Prompt Kind = iota
	Answer
	Command
	Output
	File
	Subagent // texts of the turn's subagents, of all kinds above
	kinds
)

// String returns the name of the kind.
func (k Kind) String() string { return KindNames()[k] }

// KindNames returns the names of the kinds, in their order.
func KindNames() []string {
	return []string{"prompt", "answer", "command", "output", "file", "subagent"}
}

// textIDs is the number of text ids per turn: one for each kind and some reserved ones. The
// id of a text is its turn's id times textIDs plus its kind.
const textIDs = 8
