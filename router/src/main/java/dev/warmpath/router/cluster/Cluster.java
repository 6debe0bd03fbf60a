package dev.warmpath.router.cluster;

import dev.warmpath.router.cluster.Rows.ClientRow;
import dev.warmpath.router.cluster.Rows.EngineRow;
import dev.warmpath.router.cluster.Rows.QueueRow;
import dev.warmpath.router.cluster.Rows.ResponseRow;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.Booking;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.PrefillModel;
import dev.warmpath.router.fleet.Reservation;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.security.ClientAccount;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps this router and the others of one mind: tells them which requests it has sent and how they
 * end, and counts theirs here, so that policies and limits see the sum without knowing of routers.
 *
 * <p>Thread-safe. Nobody who sends a request waits for the network or for what others tell.
 */
public final class Cluster implements DispatchListener, ClusterLink.Listener, AutoCloseable {

  /*
   * What happens here goes into `own` and, as changes, into `untold`, which the next tick sends. What
   * others tell is merged into their RouterRows, and each change there is done here as well:
   *
   *   told of a booking    EngineState.book: its load and its blocks count here
   *   it is prefilled      EngineState.firstToken
   *   it ends              EngineState.release; whoever waits here may have the place
   *   an engine's row      EngineState.seenElsewhere
   *   a client's row       ClientAccount.countElsewhere
   *
   * A link may lose messages. So each router tells the digest of its rows every second; who has
   * another one twice in a row, since one may only be late, asks for all of them. Who was not heard for `expireNanos` is taken to be gone, with
   * all that it had booked: if it was only cut off, it tells all again when it is back.
   *
   * Only silence tells that, not the link, although a mesh sees a connection close at once: one that a
   * firewall or a cut closed looks the same, and then the router lives and so do its requests. Counting
   * a dead one's for some seconds more costs less than sending what its engines have no room for.
   *
   * Two locks: `ownLock` for what requests touch, never held for longer than a few of them take;
   * `peersLock` for what others tell. Whoever holds `peersLock` may take `ownLock` or an engine's;
   * whoever holds `ownLock` takes none: requests come to it with locks of the dispatcher's.
   */

  private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);
  private static final long DIGEST_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long ASK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** What is only good to know waits so long for a booking that it can go with. */
  private static final long LAZY_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

  /** So long a router keeps its place among the others. */
  private static final long PLACE_MILLIS = 250;

  /** Steps of this part of a circle come nowhere twice. */
  private static final double GOLDEN = 0.6180339887498949;

  /** Choices of two routers within so much may not have known of each other. */
  private static final long CROWD_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** Choices of which fewer are made so need no places. */
  private static final double FEW_CROWDED = 0.05;

  /** What another router tells moves the share of those by so much. */
  private static final double CROWD_STEP = 1.0 / 512;

  /** So many gaps show that much was lost. */
  private static final int MOST_GAPS = 1_024;

  /** A speed that has moved by so much is told again. */
  private static final double SPEED_STEP = 0.05;

  /** Responses that wait to be told; more are not told. */
  private static final int MOST_RESPONSES = 1 << 14;

  /** The setting that says whether a replica is drained. */
  public static String drainSetting(String replica) {
    return "drain/" + replica;
  }

  /** The setting that holds a replica that an operator added. */
  public static String replicaSetting(String replica) {
    return "replica/" + replica;
  }

  /** What of this process others tell, and are told, beside requests. */
  public interface Host {

    /** None of it. */
    Host NONE = new Host() {};

    /** Another router knows where a response can be continued. */
    default void response(String id, String replica, @Nullable String client) {}

    /** Where all responses can be continued that are known here. */
    default Collection<ResponseRow> responses() {
      return List.of();
    }

    /** An operator has told another router so: {@link Cluster#setting} says what holds now. */
    default void setting(String name) {}

    /** The clients with rates. */
    default Collection<ClientAccount> clients() {
      return List.of();
    }
  }

  /**
   * What is known of another router.
   *
   * @param reachable whether the link says so
   * @param heardNanos how long ago it was last heard; {@link #NEVER} if nothing of it was
   *     understood
   * @param bookings requests that it has under way
   * @param inStep whether its last digest was that of what is known of it
   */
  public record Peer(
      RouterId id, boolean reachable, long heardNanos, int bookings, int waiting, boolean inStep) {

    /** In place of an age. */
    public static final long NEVER = -1;

    /** Whether anything of it counts here. */
    public boolean isHeard() {
      return heardNanos != NEVER;
    }
  }

  /**
   * How it stands.
   *
   * @param bookings own requests under way
   * @param waiting own requests that wait for a place, as the others were told
   * @param peers others that are heard, or reachable
   * @param lost how often one of them could be reached no more
   * @param link how the network went
   * @param told bookings that others told of so far
   * @param blindChoices own choices of an engine that were made after another router had chosen it
   *     and before that was heard
   * @param blindMillis prefill, as predicted, of those that had not been heard of
   * @param askedAgain how often all was asked for because something was missing
   * @param malformed messages that could not be read
   * @param refused rows that found no room
   * @param seed how this router's start went; null if it looks for no snapshot
   */
  public record Status(
      RouterId self,
      int bookings,
      int waiting,
      List<Peer> peers,
      long lost,
      ClusterLink.Status link,
      long told,
      long blindChoices,
      double blindMillis,
      long askedAgain,
      long malformed,
      long refused,
      Neighbours.@Nullable Seed seed) {}

  /** What another router has told, and what was made of it here. */
  private final class Told implements RouterRows.Changes {
    private final RouterId id;
    private final RouterRows rows = new RouterRows();
    private long heardNanos;
    private long askedNanos;
    private boolean asked;
    private boolean inStep;
    private boolean agrees;

    Told(RouterId id, long nowNanos) {
      this.id = id;
      this.heardNanos = nowNanos;
    }

    @Override
    public void booked(RouterRows.Live live) {
      told++;
      apply(live, true);
    }

    /** Counts a booking here, if its engine is in the fleet. */
    void apply(RouterRows.Live live, boolean isNew) {
      Booking booking = Objects.requireNonNull(live.booking);
      EngineState engine = dispatcher().engine(booking.engine());
      if (engine == null || live.reservation != null) {
        return;
      }
      // When one that is prefilled had its first token is not told: it must teach no speed.
      long now = live.prefilled ? nanoClock.getAsLong() : live.bornNanos;
      Reservation reservation = engine.book(booking, now);
      live.engine = engine;
      live.reservation = reservation;
      if (live.prefilled) {
        engine.firstToken(reservation, now);
      }
      if (isNew) {
        dispatcher().remember(booking.note(), engine);
        countBlind(booking, live.bornNanos, reservation);
        crowded += CROWD_STEP * ((isCrowded(live.bornNanos) ? 1 : 0) - crowded);
      }
    }

    @Override
    public void prefilled(RouterRows.Live live) {
      if (live.engine != null && live.reservation != null) {
        live.engine.firstToken(live.reservation, nanoClock.getAsLong());
      }
    }

    @Override
    public void ended(RouterRows.Live live, boolean computed) {
      if (live.engine != null && live.reservation != null) {
        live.engine.release(live.reservation, computed, nanoClock.getAsLong());
        placesFreed = true;
      }
    }

    @Override
    public void engine(EngineRow row, @Nullable EngineRow before) {
      EngineState engine = dispatcher().engine(row.engine());
      if (engine == null) {
        return;
      }
      engine.seenElsewhere(
          row.speed(), TimeUnit.MILLISECONDS.toNanos(row.ejectedMillis()), nanoClock.getAsLong());
      if (before != null && before.ejectedMillis() > 0 && row.ejectedMillis() == 0) {
        engine.answeredElsewhere();
      }
    }

    @Override
    public void client(ClientRow row, @Nullable ClientRow before) {
      long now = nanoClock.getAsLong();
      if (before == null && row.version() > 1) {
        return; // what it had used before it was heard of is past
      }
      for (ClientAccount client : host.clients()) {
        if (client.name().equals(row.client())) {
          client.countElsewhere(
              row.requests() - (before == null ? 0 : before.requests()),
              row.tokens() - (before == null ? 0 : before.tokens()),
              now);
        }
      }
    }

    /** Engines may have come of which it told before. */
    void applyLate() {
      for (RouterRows.Live live : rows.live()) {
        Booking booking = live.booking;
        if (booking != null && live.engine != dispatcher().engine(booking.engine())) {
          if (live.reservation != null) { // another has its engine's name now
            ended(live, live.prefilled);
            live.engine = null;
            live.reservation = null;
          }
          apply(live, false);
        }
      }
      for (EngineRow row : rows.engines()) {
        EngineState engine = dispatcher().engine(row.engine());
        if (engine != null && engine.learned().samples() == 0) {
          engine.seenElsewhere(row.speed(), 0, nanoClock.getAsLong());
        }
      }
    }

    /** Its router is gone, and with it all that it has sent. */
    void release() {
      for (RouterRows.Live live : rows.live()) {
        ended(live, live.prefilled);
      }
    }
  }

  private final RouterId self;
  private final ClusterLink link;
  private final long expireNanos;
  private final LongSupplier nanoClock;
  private final LongSupplier wallMillis;
  private final Host host;

  private final Object ownLock = new Object();
  private final RouterRows own = new RouterRows();
  private Rows untold = new Rows();
  private final List<Booking> untoldBookings = new ArrayList<>();
  private final Map<String, RecentTimes> choices = new HashMap<>();
  private final RecentTimes allChoices = new RecentTimes();

  private final Object peersLock = new Object();
  private final Map<RouterId, Told> peers = new TreeMap<>();
  private final LastWriterMap settings = new LastWriterMap();
  private Set<RouterId> reachable = Set.of();
  private boolean placesFreed;
  private long lost;
  private long told;
  private long blindChoices;
  private double blindMillis;
  private double crowded = 2 * FEW_CROWDED; // until it is known better
  private long askedAgain;
  private long malformed;

  private volatile @Nullable Dispatcher dispatcher;
  private volatile @Nullable Neighbours neighbours;
  private long digestNanos;
  private long lookNanos;
  private long toldNanos;

  /**
   * @param expireNanos after so much silence a router is taken to be gone
   * @param nanoClock counts nanoseconds from anywhere, as the dispatcher's
   * @param wallMillis since 1970
   */
  public Cluster(
      RouterId self,
      ClusterLink link,
      long expireNanos,
      LongSupplier nanoClock,
      LongSupplier wallMillis,
      Host host) {
    this.self = self;
    this.link = link;
    this.expireNanos = expireNanos;
    this.nanoClock = nanoClock;
    this.wallMillis = wallMillis;
    this.host = host;
    digestNanos = nanoClock.getAsLong();
    lookNanos = digestNanos;
  }

  /** Joins the others. Before that nothing of theirs is counted. */
  public void begin(Dispatcher counted) {
    dispatcher = counted;
    link.begin(this);
  }

  /** The same, and hands over who is reachable and what is about snapshots. */
  public void begin(Dispatcher counted, Neighbours snapshots) {
    neighbours = snapshots;
    begin(counted);
  }

  /** Whether {@link #begin} was called. */
  public boolean hasBegun() {
    return dispatcher != null;
  }

  /**
   * Whether what one router does for all is for this one: its id is the least of those that are
   * heard. While routers do not hear each other, several are first.
   */
  public boolean isFirst() {
    synchronized (peersLock) {
      return peers.keySet().stream().allMatch(other -> self.compareTo(other) < 0);
    }
  }

  private Dispatcher dispatcher() {
    return Objects.requireNonNull(dispatcher);
  }

  // What happens here.

  @Override
  public void assigned(PreparedRequest request, Assignment assignment) {
    Booking booking = assignment.booking();
    long now = nanoClock.getAsLong();
    synchronized (ownLock) {
      own.book(booking, now, RouterRows.Changes.NONE);
      untoldBookings.add(booking);
      choices.computeIfAbsent(booking.engine(), engine -> new RecentTimes()).add(now);
      allChoices.add(now);
    }
  }

  @Override
  public void prefilled(Assignment assignment) {
    synchronized (ownLock) {
      own.prefilled(assignment.number(), RouterRows.Changes.NONE);
      untold.prefilled.add(assignment.number());
    }
  }

  @Override
  public void finished(Assignment assignment, Outcome outcome) {
    long id = assignment.number();
    synchronized (ownLock) {
      RouterRows.Live live = own.live(id);
      boolean prefilled = live != null && live.prefilled;
      boolean computed =
          outcome == Outcome.COMPLETED || (prefilled && outcome == Outcome.CANCELLED);
      own.end(id, id, List.of(), RouterRows.Changes.NONE);
      untold.ended.add(id);
      if (!computed) {
        untold.notComputed.add(id);
      }
    }
  }

  /** A response can be continued at a replica, for a client. */
  public void made(String id, String replica, @Nullable String client) {
    synchronized (ownLock) {
      if (untold.responses.size() < MOST_RESPONSES) {
        untold.responses.add(new ResponseRow(id, replica, client));
      }
    }
  }

  /** What an operator said of this, here or elsewhere; null if nothing holds. */
  public @Nullable String setting(String name) {
    synchronized (peersLock) {
      LastWriterMap.Entry entry = settings.get(name);
      return entry == null ? null : entry.value();
    }
  }

  /** All that holds of what operators said, by name. */
  public Map<String, String> settings() {
    Map<String, String> all = new TreeMap<>();
    synchronized (peersLock) {
      for (LastWriterMap.Entry entry : settings.entries()) {
        String value = entry.value();
        if (value != null) {
          all.put(entry.name(), value);
        }
      }
    }
    return all;
  }

  /** An operator said so here; null: that it holds no longer. */
  public void set(String name, @Nullable String value) {
    LastWriterMap.Entry entry;
    synchronized (peersLock) {
      entry = settings.put(name, value, wallMillis.getAsLong(), self.start());
    }
    synchronized (ownLock) {
      untold.settings.add(entry);
    }
  }

  /** Lets time pass; called every few milliseconds, by one thread at a time. */
  public void tick() {
    long now = nanoClock.getAsLong();
    boolean looks = now - lookNanos >= LOOK_NANOS;
    boolean digests = now - digestNanos >= DIGEST_NANOS;
    List<EngineRow> engines = looks ? changedEngines(now) : List.of();
    List<ClientRow> clients = looks ? changedClients() : List.of();
    if (looks && neighbours != null) {
      neighbours.tick(link::mayReachMore);
    }
    Set<String> names = digests ? engineNames() : Set.of();
    int waiting = dispatcher().queued();
    long longestMillis = waiting > 0 ? dispatcher().longestWaitMillis() : 0;
    lookNanos = looks ? now : lookNanos;
    digestNanos = digests ? now : digestNanos;
    Rows changes;
    long digest;
    synchronized (ownLock) {
      for (EngineRow row : engines) {
        own.engine(row, RouterRows.Changes.NONE);
        untold.engines.add(row);
      }
      for (ClientRow row : clients) {
        own.client(row, RouterRows.Changes.NONE);
        untold.clients.add(row);
      }
      queue(waiting, longestMillis, digests || (looks && waiting > 0));
      tellBookings(now);
      if (digests) {
        choices.keySet().retainAll(names);
      }
      digest = own.digest();
      changes = untold;
      if (digests || isUrgent(changes) || now - toldNanos >= LAZY_NANOS) {
        untold = new Rows();
        toldNanos = now;
      } else {
        changes = new Rows();
      }
    }
    if (!changes.isEmpty()) {
      ClusterMessage.write(changes, link::broadcast);
    }
    if (digests) {
      link.broadcast(ClusterMessage.digest(digest, settingsDigest()));
    }
    if (looks) {
      expire(now, digests);
    }
    dispatcher().place(place());
    dispatcher().tick();
  }

  /** Others choose by bookings, and who waits for a place anywhere waits for its news. */
  private boolean isUrgent(Rows changes) {
    boolean placesMatter = changes.ended.ranges() > 0 && dispatcher().anybodyWaits();
    return placesMatter
        || !changes.booked.isEmpty()
        || !changes.settings.isEmpty()
        || changes.queue.version() > 0;
  }

  /** Tells all that was not told yet; nothing follows. */
  public void tellLast() {
    toldNanos = nanoClock.getAsLong() - LAZY_NANOS;
    tick();
  }

  /**
   * Routers are spread evenly over the engines that are equally good for them, and go on together,
   * so that each comes to all of them. While few choose at the same time none takes a place: that
   * costs hits.
   */
  private double place() {
    synchronized (peersLock) {
      if (peers.isEmpty() || crowded < FEW_CROWDED) {
        return RoutingRequest.ALONE;
      }
      long before = peers.keySet().stream().filter(peer -> peer.compareTo(self) < 0).count();
      long step = wallMillis.getAsLong() / PLACE_MILLIS;
      double turned = (double) before / (peers.size() + 1) + step * GOLDEN;
      return turned - Math.floor(turned);
    }
  }

  private long settingsDigest() {
    synchronized (peersLock) {
      return settings.digest();
    }
  }

  private Set<String> engineNames() {
    Set<String> names = new HashSet<>();
    dispatcher().engines().forEach(engine -> names.add(engine.name()));
    return names;
  }

  /** How many wait: when that has changed, goes on, or may have been lost. */
  private void queue(int waiting, long longestMillis, boolean isDue) {
    QueueRow before = own.queue();
    if (waiting != before.waiting() || isDue) {
      QueueRow row = new QueueRow(before.version() + 1, waiting, longestMillis);
      own.queue(row);
      untold.queue = row;
    }
  }

  /** Of those that are over already only that is told. */
  private void tellBookings(long nowNanos) {
    for (Booking booking : untoldBookings) {
      RouterRows.Live live = own.live(booking.id());
      if (live != null) {
        long nanos = Math.max(0, nowNanos - live.bornNanos); // it may be born since the tick began
        untold.booked.add(new Rows.Booked(booking, nanos / 1_000));
      }
    }
    untoldBookings.clear();
  }

  private List<EngineRow> changedEngines(long nowNanos) {
    List<EngineRow> changed = new ArrayList<>();
    for (EngineState engine : dispatcher().engines()) {
      EngineRow before;
      synchronized (ownLock) {
        before = own.engine(engine.name());
      }
      PrefillModel.Speed speed = engine.learned();
      long ejectedMillis = TimeUnit.NANOSECONDS.toMillis(engine.ejectedNanos(nowNanos));
      boolean isNew = before == null && (speed.samples() > 0 || ejectedMillis > 0);
      if (isNew || (before != null && isChanged(before, speed, ejectedMillis))) {
        long version = before == null ? 1 : before.version() + 1;
        changed.add(new EngineRow(engine.name(), version, speed, ejectedMillis));
      }
    }
    return changed;
  }

  private static boolean isChanged(EngineRow before, PrefillModel.Speed speed, long ejectedMillis) {
    return ejectedMillis > before.ejectedMillis()
        || (ejectedMillis == 0 && before.ejectedMillis() > 0)
        || isFar(before.speed().overheadMillis(), speed.overheadMillis())
        || isFar(before.speed().cost().millisPerToken(), speed.cost().millisPerToken())
        || isFar(before.speed().cost().millisPerTokenPair(), speed.cost().millisPerTokenPair());
  }

  private static boolean isFar(double before, double now) {
    return Math.abs(now - before) > SPEED_STEP * before;
  }

  private List<ClientRow> changedClients() {
    List<ClientRow> changed = new ArrayList<>();
    for (ClientAccount client : host.clients()) {
      ClientAccount.Counts used = client.counts();
      long tokens = used.promptTokens() + used.answerTokens();
      ClientRow before;
      synchronized (ownLock) {
        before = own.client(client.name());
      }
      if (before == null
          ? used.admitted() > 0
          : before.requests() != used.admitted() || before.tokens() != tokens) {
        long version = before == null ? 1 : before.version() + 1;
        changed.add(new ClientRow(client.name(), version, used.admitted(), tokens));
      }
    }
    return changed;
  }

  // What others tell.

  @Override
  public void reachable(Set<RouterId> others) {
    List<RouterId> come = new ArrayList<>();
    synchronized (peersLock) {
      for (RouterId other : others) {
        if (!reachable.contains(other)) {
          come.add(other);
        }
      }
      for (RouterId other : reachable) {
        if (!others.contains(other)) {
          lost++;
          LOG.warn("router {} cannot be reached any more", other.name());
        }
      }
      reachable = Set.copyOf(others);
      others.forEach(this::dropOthersNamed);
      warnOfNamesakes();
    }
    Neighbours snapshots = neighbours;
    if (snapshots != null) {
      snapshots.reachable(others);
    }
    for (RouterId other : come) {
      LOG.info("router {} can be reached", other.name());
      link.send(
          other,
          ClusterMessage.wanted(
              ClusterMessage.ROWS_WANTED
                  | ClusterMessage.SETTINGS_WANTED
                  | ClusterMessage.RESPONSES_WANTED));
    }
  }

  @Override
  public void received(RouterId from, byte[] message) {
    Neighbours snapshots = neighbours;
    if (message.length > 0
        && message[0] >= Neighbours.FIRST_KIND
        && message[0] <= Neighbours.LAST_KIND) {
      if (snapshots != null) {
        snapshots.received(from, message);
      }
      return;
    }
    try {
      if (message.length < 2 || message[1] != ClusterMessage.VERSION) {
        throw new ClusterMessage.MalformedException(
            "version=" + (message.length < 2 ? "none" : message[1]), null);
      }
      switch (message[0]) {
        case ClusterMessage.ROWS -> rows(from, ClusterMessage.rows(message));
        case ClusterMessage.WANTED -> tellAll(from, ClusterMessage.wanted(message));
        case ClusterMessage.DIGEST -> compare(from, ClusterMessage.digest(message));
        default -> throw new ClusterMessage.MalformedException("kind=" + message[0], null);
      }
    } catch (ClusterMessage.MalformedException e) {
      synchronized (peersLock) {
        if (malformed++ == 0) {
          LOG.warn(
              "router {} sends what cannot be read here, is it of another version? {}",
              from.name(),
              e.getMessage());
        }
      }
    }
  }

  private void rows(RouterId from, Rows rows) {
    List<LastWriterMap.Entry> news = new ArrayList<>();
    boolean freed;
    int asks;
    synchronized (peersLock) {
      long now = nanoClock.getAsLong();
      Told peer = peer(from, now);
      peer.rows.merge(rows, now, peer);
      for (LastWriterMap.Entry entry : rows.settings) {
        if (settings.merge(entry)) {
          news.add(entry);
        }
      }
      int gaps = peer.rows.endedRanges() - peer.rows.live().size();
      asks = gaps > MOST_GAPS ? asks(peer, ClusterMessage.ROWS_WANTED, now) : 0;
      waitingElsewhere();
      freed = placesFreed;
      placesFreed = false;
    }
    ask(from, asks);
    news.forEach(entry -> host.setting(entry.name()));
    rows.responses.forEach(row -> host.response(row.id(), row.replica(), row.client()));
    if (freed) {
      dispatcher().freed();
    }
  }

  /** What is known of a router that was just heard. */
  private Told peer(RouterId id, long nowNanos) {
    Told known = peers.get(id);
    if (known == null) {
      known = new Told(id, nowNanos);
      dropOthersNamed(id);
      peers.put(id, known);
    }
    known.heardNanos = nowNanos;
    return known;
  }

  /** A router that has started again has none of the requests that it had. */
  private void dropOthersNamed(RouterId id) {
    peers
        .values()
        .removeIf(other -> {
          boolean isFormer =
              !other.id.equals(id)
                  && other.id.name().equals(id.name())
                  && !reachable.contains(other.id);
          if (isFormer) {
            other.release();
          }
          return isFormer;
        });
  }

  private void warnOfNamesakes() {
    Set<String> names = new HashSet<>(Set.of(self.name()));
    for (RouterId other : reachable) {
      if (!names.add(other.name())) {
        LOG.warn("several routers are called {}: set cluster.member", other.name());
      }
    }
  }

  private void waitingElsewhere() {
    int waiting = 0;
    long longestMillis = 0;
    for (Told peer : peers.values()) {
      waiting += peer.rows.queue().waiting();
      longestMillis = Math.max(longestMillis, peer.rows.queue().longestMillis());
    }
    dispatcher().waitingElsewhere(waiting, longestMillis);
  }

  private void compare(RouterId from, long[] digests) {
    int asks = 0;
    synchronized (peersLock) {
      long now = nanoClock.getAsLong();
      Told peer = peer(from, now);
      boolean inStep = peer.rows.digest() == digests[0];
      boolean agrees = settings.digest() == digests[1];
      if (!inStep && !peer.inStep) {
        asks |= ClusterMessage.ROWS_WANTED;
      }
      if (!agrees && !peer.agrees) {
        asks |= ClusterMessage.SETTINGS_WANTED;
      }
      peer.inStep = inStep;
      peer.agrees = agrees;
      asks = asks(peer, asks, now);
    }
    ask(from, asks);
  }

  private int asks(Told peer, int what, long nowNanos) {
    if (what == 0 || (peer.asked && nowNanos - peer.askedNanos < ASK_NANOS)) {
      return 0;
    }
    peer.asked = true;
    peer.askedNanos = nowNanos;
    askedAgain++;
    return what;
  }

  private void ask(RouterId whom, int what) {
    if (what != 0) {
      link.send(whom, ClusterMessage.wanted(what));
    }
  }

  /** With a digest behind it, so that who has asked need not wait for the next to be in step. */
  private void tellAll(RouterId whom, int what) {
    Rows rows = new Rows();
    long digest = 0;
    boolean wantsRows = (what & ClusterMessage.ROWS_WANTED) != 0;
    long now = nanoClock.getAsLong();
    if (wantsRows) {
      synchronized (ownLock) {
        rows = own.whole(now);
        digest = own.digest();
      }
      rows.engines.replaceAll(row -> aged(row, now));
    }
    if ((what & ClusterMessage.RESPONSES_WANTED) != 0) {
      rows.responses.addAll(host.responses());
    }
    if ((what & ClusterMessage.SETTINGS_WANTED) != 0) {
      synchronized (peersLock) {
        rows.settings.addAll(settings.entries());
      }
    }
    ClusterMessage.write(rows, message -> link.send(whom, message));
    if (wantsRows) {
      link.send(whom, ClusterMessage.digest(digest, settingsDigest()));
    }
  }

  /** An ejection that is told again has become shorter; that it is over is a row of its own. */
  private EngineRow aged(EngineRow row, long nowNanos) {
    EngineState engine = row.ejectedMillis() == 0 ? null : dispatcher().engine(row.engine());
    if (engine == null) {
      return row;
    }
    long left = TimeUnit.NANOSECONDS.toMillis(engine.ejectedNanos(nowNanos));
    return new EngineRow(
        row.engine(), row.version(), row.speed(), Math.max(1, Math.min(left, row.ejectedMillis())));
  }

  private void expire(long nowNanos, boolean appliesLate) {
    boolean freed = false;
    synchronized (peersLock) {
      for (Told peer : List.copyOf(peers.values())) {
        if (nowNanos - peer.heardNanos > expireNanos) {
          LOG.warn(
              "router {} was not heard for {} ms: its {} requests count no more",
              peer.id.name(),
              TimeUnit.NANOSECONDS.toMillis(nowNanos - peer.heardNanos),
              peer.rows.live().size());
          peer.release();
          peers.remove(peer.id);
          freed = true;
        } else if (appliesLate) {
          peer.applyLate();
        }
      }
      waitingElsewhere();
      freed |= placesFreed;
      placesFreed = false;
    }
    if (freed) {
      dispatcher().freed();
    }
  }

  /** Whether a choice was made here at about the time of one that was just heard of. */
  private boolean isCrowded(long bornNanos) {
    synchronized (ownLock) {
      return allChoices.since(bornNanos - CROWD_NANOS) > 0;
    }
  }

  private void countBlind(Booking booking, long bornNanos, Reservation reservation) {
    int later;
    synchronized (ownLock) {
      RecentTimes own = choices.get(booking.engine());
      later = own == null ? 0 : own.since(bornNanos);
    }
    if (later > 0) {
      blindChoices += later;
      blindMillis += reservation.prefillMillis();
    }
  }

  /** When an engine was chosen here, the last few times. */
  private static final class RecentTimes {
    private static final int KEPT = 16;
    private final long[] nanos = new long[KEPT];
    private int count;

    void add(long nowNanos) {
      nanos[count++ % KEPT] = nowNanos;
      if (count == 2 * KEPT) {
        count = KEPT;
      }
    }

    int since(long thenNanos) {
      int later = 0;
      for (int i = 0; i < Math.min(count, KEPT); i++) {
        later += nanos[i] - thenNanos > 0 ? 1 : 0;
      }
      return later;
    }
  }

  /** How it stands. */
  public Status status() {
    Neighbours snapshots = neighbours;
    Neighbours.Seed seed = snapshots == null ? null : snapshots.seed();
    int bookings;
    int waiting;
    synchronized (ownLock) {
      bookings = own.live().size();
      waiting = own.queue().waiting();
    }
    synchronized (peersLock) {
      long now = nanoClock.getAsLong();
      List<Peer> all = new ArrayList<>();
      long refused = 0;
      for (Told peer : peers.values()) {
        refused += peer.rows.refused();
        all.add(
            new Peer(
                peer.id,
                reachable.contains(peer.id),
                now - peer.heardNanos,
                peer.rows.live().size(),
                peer.rows.queue().waiting(),
                peer.inStep));
      }
      for (RouterId id : reachable) {
        if (!peers.containsKey(id)) {
          all.add(new Peer(id, true, Peer.NEVER, 0, 0, false));
        }
      }
      return new Status(
          self,
          bookings,
          waiting,
          all,
          lost,
          link.status(),
          told,
          blindChoices,
          blindMillis,
          askedAgain,
          malformed,
          refused,
          seed);
    }
  }

  /** How it stands, for a scrape. */
  public void collect(MetricValues to) {
    Status status = status();
    ClusterLink.Status network = status.link();
    to.add(Metric.CLUSTER_ROUTERS, count(status, Peer::isHeard), "heard");
    to.add(Metric.CLUSTER_ROUTERS, count(status, Peer::reachable), "reachable");
    to.add(Metric.CLUSTER_LOST_TOTAL, status.lost());
    to.add(Metric.CLUSTER_CONNECTED, network.problem().isEmpty() ? 1 : 0);
    status.peers().stream()
        .collect(Collectors.groupingBy(peer -> peer.id().name()))
        .forEach((name, peers) -> collect(name, peers, to));
    to.add(Metric.CLUSTER_BYTES_TOTAL, network.sentBytes(), "sent");
    to.add(Metric.CLUSTER_BYTES_TOTAL, network.receivedBytes(), "received");
    to.add(Metric.CLUSTER_WAITING_BYTES, network.waitingBytes());
    to.add(Metric.CLUSTER_DROPPED_MESSAGES_TOTAL, network.droppedMessages());
    to.add(Metric.CLUSTER_BOOKINGS_TOTAL, status.told());
    to.add(Metric.CLUSTER_BLIND_CHOICES_TOTAL, status.blindChoices());
    to.add(Metric.CLUSTER_BLIND_PREFILL_SECONDS_TOTAL, status.blindMillis() / 1e3);
    to.add(Metric.CLUSTER_ASKED_AGAIN_TOTAL, status.askedAgain());
    to.add(Metric.CLUSTER_REFUSED_TOTAL, network.refusedMessages(), "network");
    to.add(Metric.CLUSTER_REFUSED_TOTAL, status.malformed(), "malformed");
    to.add(Metric.CLUSTER_REFUSED_TOTAL, status.refused(), "rows");
  }

  /**
   * One that has started again elsewhere is there twice for a while, and names may be given twice:
   * a series is of a name, and one that came twice would fail the scrape.
   */
  private static void collect(String name, List<Peer> peers, MetricValues to) {
    peers.stream()
        .filter(Peer::isHeard)
        .mapToLong(Peer::heardNanos)
        .max()
        .ifPresent(nanos -> to.add(Metric.CLUSTER_HEARD_SECONDS, nanos / 1e9, name));
    to.add(Metric.CLUSTER_PEER_REQUESTS, peers.stream().mapToInt(Peer::bookings).sum(), name);
    to.add(Metric.CLUSTER_IN_STEP, peers.stream().allMatch(Peer::inStep) ? 1 : 0, name);
  }

  private static long count(Status status, Predicate<Peer> counted) {
    return status.peers().stream().filter(counted).count();
  }

  /** Leaves the others; what they know of this router's requests counts there until it expires. */
  @Override
  public void close() {
    link.close();
  }
}
