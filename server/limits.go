package server

import (
	"container/list"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/decision"
)

// guests are the open sessions of the older protocol versions, bounded in
// total and for each principal. Where there is no more room, the session goes
// that nobody has used for the longest time: clients come back under a new one
// (the protocol has them do so at 404), and one that only opens sessions costs
// itself its own. One in which a call is under way stays; when all are, the new
// one is refused.
type guests struct {
	mu      sync.Mutex
	limits  guestLimits
	byID    map[string]*guest
	byWho   map[string]*list.List // of *guest, the one that was used longest ago first
	coming  map[string]int        // places that are kept for sessions that begin
	evicted int64
}

type guestLimits struct{ total, each int }

type guest struct {
	id, who string
	session *mcp.ServerSession
	active  int
	at      *list.Element
}

// whose names a principal among the guests. Without authentication all are
// one: their names are their own choice.
func whose(p *decision.Principal) string {
	if p == nil {
		return ""
	}
	return p.Method + "\x00" + p.Subject
}

// expect keeps a place for a session that is about to begin, and makes room
// for it. done gives the place back; the session that began has its own by
// then. ok is false when there is no room.
func (g *guests) expect(who string) (done func(), ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.countOf(who) >= g.limits.each && !g.evict(who) {
		return nil, false
	}
	if g.count() >= g.limits.total && !g.evict(g.largest()) {
		return nil, false
	}
	if g.coming == nil {
		g.coming = map[string]int{}
	}
	g.coming[who]++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.coming[who]--; g.coming[who] == 0 {
			delete(g.coming, who)
		}
	}, true
}

func (g *guests) countOf(who string) int {
	n := g.coming[who]
	if l := g.byWho[who]; l != nil {
		n += l.Len()
	}
	return n
}

func (g *guests) count() int {
	n := len(g.byID)
	for _, c := range g.coming {
		n += c
	}
	return n
}

// largest is whoever has the most sessions.
func (g *guests) largest() (who string) {
	most := 0
	for w, l := range g.byWho {
		if l.Len() > most {
			who, most = w, l.Len()
		}
	}
	return who
}

// evict ends the session of who that was used longest ago.
func (g *guests) evict(who string) bool {
	l := g.byWho[who]
	if l == nil {
		return false
	}
	for e := l.Front(); e != nil; e = e.Next() {
		if old := e.Value.(*guest); old.active == 0 {
			g.drop(old)
			g.evicted++
			go func() { _ = old.session.Close() }()
			return true
		}
	}
	return false
}

func (g *guests) drop(x *guest) {
	if g.byID[x.id] != x {
		return
	}
	delete(g.byID, x.id)
	l := g.byWho[x.who]
	if l.Remove(x.at); l.Len() == 0 {
		delete(g.byWho, x.who)
	}
}

// enter counts a session that begins, until it ends.
func (g *guests) enter(session *mcp.ServerSession, who string) {
	x := &guest{id: session.ID(), who: who, session: session}
	g.mu.Lock()
	if g.byID == nil {
		g.byID, g.byWho = map[string]*guest{}, map[string]*list.List{}
	}
	if x.id == "" || g.byID[x.id] != nil {
		g.mu.Unlock()
		return
	}
	if g.byWho[who] == nil {
		g.byWho[who] = list.New()
	}
	g.byID[x.id], x.at = x, g.byWho[who].PushBack(x)
	g.mu.Unlock()
	go func() {
		_ = session.Wait()
		g.mu.Lock()
		defer g.mu.Unlock()
		g.drop(x)
	}()
}

// use marks a session as used until done is called.
func (g *guests) use(id string) (done func()) {
	if id == "" {
		return func() {}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.byID[id]
	if x == nil {
		return func() {}
	}
	touch := func() {
		if g.byID[id] == x {
			g.byWho[x.who].MoveToBack(x.at)
		}
	}
	x.active++
	touch()
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		x.active--
		touch()
	}
}

func (g *guests) numbers() (open int, evicted int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.byID), g.evicted
}

// serveStateful serves a message of the older protocol versions: it finds room
// for a session that begins, and keeps the session of a message from being
// ended meanwhile.
func (s *Server) serveStateful(w http.ResponseWriter, r *http.Request, who *decision.Principal, f frame) {
	id := r.Header.Get(headerSession)
	if r.Method != http.MethodPost { // a stream alone is no use of a session
		s.stateful.ServeHTTP(w, r)
		return
	}
	if bad := s.guests.outOfOrder(id, f); bad != nil {
		writeRPC(w, http.StatusBadRequest, bad.answer(f))
		return
	}
	if id != "" && !s.guests.has(id) { // of one that had to go the library may not know it yet
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	if id == "" { // the library begins a session for it
		done, ok := s.guests.expect(whose(who))
		if !ok {
			s.load.refused(busySessions)
			writeBusy(w, frame{}, busySessions)
			return
		}
		defer done()
	}
	defer s.guests.use(id)()
	s.stateful.ServeHTTP(w, r)
}

// outOfOrder refuses what comes before the initialize request of its session, and
// a second one. The library would begin a session for the one, and answer both
// with an error that has no code.
func (g *guests) outOfOrder(id string, f frame) *rpcError {
	begins := f.isCall() && f.method == "initialize"
	switch {
	case id == "" && !begins:
		return &rpcError{code: codeInvalidRequest, message: "this message belongs to no session: send initialize first, then the " + headerSession + " header of its answer; or use protocol version " + modernVersion + ", which has no sessions"}
	case id != "" && begins && g.has(id):
		return &rpcError{code: codeInvalidRequest, message: "this session has begun already: initialize comes once, and without the " + headerSession + " header"}
	}
	return nil
}

func (g *guests) has(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.byID[id] != nil
}

// arrived counts the session of an initialize request.
func (s *Server) arrived(extra *mcp.RequestExtra, session *mcp.ServerSession) {
	if r, ok := s.served(extra); ok {
		s.guests.enter(session, whose(r.principal))
	}
}

// Limits are the bounds of the door that can change while it serves.
type Limits struct {
	Requests     int   // Options.MaxRequests
	BodyBytes    int64 // Options.MaxBodies
	Share        int   // Options.Share
	Listens      int   // Options.MaxListens
	ListensEach  int   // Options.MaxListensEach
	Sessions     int   // Options.MaxSessions
	SessionsEach int   // Options.MaxSessionsEach
}

// Limit puts other bounds into force; one that is not positive stays. What is
// inside stays as well.
func (s *Server) Limit(l Limits) {
	s.load.mu.Lock()
	b := &s.load.limits
	change(&b.requests, l.Requests)
	change(&b.bytes, l.BodyBytes)
	change(&b.share, l.Share)
	change(&b.listens, l.Listens)
	change(&b.listensEach, l.ListensEach)
	s.load.mu.Unlock()
	s.guests.mu.Lock()
	defer s.guests.mu.Unlock()
	change(&s.guests.limits.total, l.Sessions)
	change(&s.guests.limits.each, l.SessionsEach)
}

func change[T int | int64](limit *T, to T) {
	if to > 0 {
		*limit = to
	}
}
