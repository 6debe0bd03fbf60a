package dev.warmpath.router.cluster;

import dev.warmpath.router.config.ClusterConfig;
import dev.warmpath.router.members.PeerAddresses;
import java.io.DataInput;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.MergeView;
import org.jgroups.Message;
import org.jgroups.PhysicalAddress;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.blocks.cs.NioConnection;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.nio.Buffers;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.TCP_NIO2;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.DiagnosticsHandler;
import org.jgroups.stack.IpAddress;
import org.jgroups.stack.Protocol;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Responses;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Routers that hold connections to each other: JGroups says who is there, and carries the messages.
 *
 * <p>Thread-safe.
 */
final class MeshLink implements ClusterLink {

  /*
   *  broadcast, send ─▶ queue ─ thread warmpath-mesh ─▶ JChannel ─ Transport ─ Seal ─▶ TCP
   *  PeerAddresses ─ thread warmpath-mesh-peers ─▶ Discovery (asked at the start and by MERGE3)
   *  received, reachable ◀─ JChannel ◀─ Transport ◀─ Seal ◀─ TCP
   *
   * Why TCP_NIO2: it never waits for a peer. Written to a socket that blocks, a process that was
   * stopped holds up first what is meant for others, then the closing of its own connection and
   * with it the view without it. What a peer does not take is kept up to a bound and then dropped.
   *
   * Why not JGroups' own encryption: SYM_ENCRYPT leaves headers open, takes messages without
   * payload from anybody, and knows no authenticated cipher; its AUTH sends the token in clear;
   * TLS needs the transport that blocks. So each frame is sealed below everything that reads it.
   * A stranger can connect and be a nuisance to a connection; it can neither read nor be heard.
   *
   * Why no FD_SOCK2: it needs a second port, and where that is closed it holds up each view
   * (github.com/belaban/JGroups/issues/1048). A connection that breaks is a suspicion all the
   * same (enable_suspect_events), and FD_ALL3 finds who is silent.
   *
   * Messages go to each member on its own and unreliably: they may be lost, and what waits for an
   * acknowledgement of a stopped process must not hold up the others. JGroups' own messages about
   * members are reliable.
   *
   * On the wire, within a message of JGroups:
   *   0 | message                                      up to PART_BYTES
   *   1 | length (4) | offset (4) | bytes of a part    in order, else the rest is thrown away
   */

  private static final Logger LOG = LoggerFactory.getLogger(MeshLink.class);

  private static final byte WHOLE = 0;
  private static final byte PART = 1;
  private static final int PART_HEAD = 1 + 2 * Integer.BYTES;
  private static final int PART_BYTES = 48 << 10;

  /** Longer frames end a connection: a message's part, or a view of hundreds of members. */
  private static final int LONGEST_FRAME = 1 << 18;

  /** That wait for one connection, beside the bound in bytes. */
  private static final int MOST_FRAMES = 2_048;

  private static final int MOST_THREADS = 32;

  /** Silence that makes a suspect, and how often a process breaks it. */
  private static final int SILENCE_MILLIS = 2_000;

  private static final int HEARTBEAT_MILLIS = 500;

  /** A suspect's last chance to answer. */
  private static final int VERIFY_MILLIS = 300;

  private static final int JOIN_MILLIS = 1_000;
  private static final int JOIN_ATTEMPTS = 2;
  private static final int MERGE_MIN_MILLIS = 500;
  private static final int MERGE_MAX_MILLIS = 1_000;

  private static final int LOOK_MILLIS = 5_000;
  private static final int SHORTEST_LOOK_MILLIS = 500;
  private static final int ALONE_LOOK_MILLIS = 1_000;
  private static final int RETRY_MILLIS = 1_000;

  private static final String ID = "router";

  /** Waits to be sent; to all if {@code to} is null. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Waiting(@Nullable RouterId to, byte[] message) {}

  private final RouterId self;
  private final ClusterConfig config;
  private final PeerAddresses addresses;
  private final @Nullable Seal seal;
  private final long queueBytes;
  private final Thread sender = new Thread(this::sendAll, "warmpath-mesh");
  private final Thread peersThread = new Thread(this::followPeers, "warmpath-mesh-peers");
  private final Semaphore wake = new Semaphore(0);

  private final LongAdder sent = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private final LongAdder refused = new LongAdder();

  private @Nullable Inbox inbox;
  private final ArrayDeque<Waiting> queue = new ArrayDeque<>();
  private long waitingBytes;
  private volatile boolean closed;

  private volatile @Nullable JChannel channel;
  private volatile @Nullable Transport transport;
  private volatile Map<Address, RouterId> members = Map.of();
  private volatile Map<RouterId, Address> places = Map.of();
  private volatile List<InetSocketAddress> peers = List.of();
  private volatile String joinProblem = "joining";
  private volatile String lookProblem = "";

  /**
   * @param addresses of the routers; closed with this
   */
  MeshLink(RouterId self, ClusterConfig config, PeerAddresses addresses) {
    this.self = self;
    this.config = config;
    this.addresses = addresses;
    this.seal = config.secret() == null ? null : new Seal(config.secret(), config.name());
    this.queueBytes = config.queueKb() * 1024L;
    sender.setDaemon(true);
    peersThread.setDaemon(true);
  }

  @Override
  public void begin(Listener listener) {
    this.inbox = new Inbox(listener);
    addresses.onChange(wake::release);
    peersThread.start();
    sender.start();
  }

  @Override
  public void broadcast(byte[] message) {
    offer(new Waiting(null, message));
  }

  @Override
  public void send(RouterId to, byte[] message) {
    if (places.containsKey(to)) {
      offer(new Waiting(to, message));
    } else {
      dropped.increment();
    }
  }

  private void offer(Waiting next) {
    int length = next.message().length;
    if (length == 0 || length > LONGEST_MESSAGE) {
      throw new IllegalArgumentException("length=" + length);
    }
    synchronized (queue) {
      if (members.isEmpty() && next.to() == null) {
        return;
      }
      if (!closed && waitingBytes + length <= queueBytes) {
        queue.add(next);
        waitingBytes += length;
        queue.notifyAll();
        return;
      }
    }
    dropped.increment();
  }

  @Override
  public Status status() {
    long waiting;
    synchronized (queue) {
      waiting = waitingBytes;
    }
    Transport open = transport;
    if (open != null) {
      for (Address member : members.keySet()) {
        Buffers unsent = open.unsent(member);
        waiting += unsent == null ? 0 : unsent.remaining();
      }
    }
    return new Status(sent.sum(), received.sum(), dropped.sum(), refused.sum(), waiting, problem());
  }

  private String problem() {
    if (!members.isEmpty()) {
      return "";
    }
    if (!joinProblem.isEmpty()) {
      return joinProblem;
    }
    if (!lookProblem.isEmpty()) {
      return lookProblem;
    }
    long others = peers.stream().filter(peer -> !isOwn(peer)).count();
    return others == 0
        ? "no other router was found"
        : "no router answers at %d other addresses".formatted(others);
  }

  @Override
  public boolean mayReachMore() {
    return !joinProblem.isEmpty()
        || !lookProblem.isEmpty()
        || peers.stream().anyMatch(peer -> !isOwn(peer));
  }

  private boolean isOwn(InetSocketAddress peer) {
    Transport open = transport;
    InetAddress own = open == null ? null : open.getBindAddress();
    return peer.getPort() == config.port() && peer.getAddress().equals(own);
  }

  @Override
  public void close() {
    synchronized (queue) {
      closed = true;
      queue.notifyAll();
    }
    wake.release();
    addresses.close();
    JChannel open = channel;
    if (open != null) {
      open.close();
    }
    peersThread.interrupt();
  }

  /** For tests, which cut it. */
  JChannel channel() {
    return Objects.requireNonNull(channel);
  }

  // The thread that looks for peers, and joins them

  private void followPeers() {
    try {
      look();
      join();
      while (!closed) {
        long millis = members.isEmpty() ? ALONE_LOOK_MILLIS : LOOK_MILLIS;
        if (!wake.tryAcquire(SHORTEST_LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
          wake.tryAcquire(millis - SHORTEST_LOOK_MILLIS, TimeUnit.MILLISECONDS);
        }
        wake.drainPermits();
        look();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look() {
    try {
      peers = addresses.look();
      if (!lookProblem.isEmpty()) {
        LOG.info("cluster {}: addresses of routers are found again", config.name());
      }
      lookProblem = "";
    } catch (IOException | RuntimeException e) {
      String why = "looking for routers: " + e.getMessage();
      if (!closed && !why.equals(lookProblem)) {
        LOG.warn("cluster {}: {}", config.name(), why);
      }
      lookProblem = why;
    }
  }

  private void join() throws InterruptedException {
    while (!closed) {
      JChannel next = null;
      try {
        next = open();
        channel = next;
        next.connect(config.name());
        joinProblem = "";
        break;
      } catch (Exception e) {
        String why = "joining the mesh at port %d: %s".formatted(config.port(), rootMessage(e));
        if (!closed && !why.equals(joinProblem)) {
          LOG.warn("cluster {}: {}", config.name(), why);
        }
        joinProblem = why;
        if (next != null) {
          next.close();
        }
        TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
      }
    }
    JChannel open = channel;
    if (closed && open != null) {
      open.close();
    }
  }

  private static String rootMessage(Throwable e) {
    Throwable root = e;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return String.valueOf(root.getMessage());
  }

  private JChannel open() throws Exception {
    InetAddress own = config.host() == null ? ownAddress() : InetAddress.getByName(config.host());
    Transport made = new Transport();
    made.setBindAddress(own)
        .setBindPort(config.port())
        .setPortRange(0)
        .setBundlerType("no-bundler")
        .useVirtualThreads(false)
        .logDiscardMsgs(false)
        .logDiscardMsgsVersion(false);
    made.tcpNodelay(true).enableSuspectEvents(true).setMaxLength(LONGEST_FRAME);
    made.logDetails(false);
    made.setMaxSendBuffers(MOST_FRAMES);
    made.getThreadPool().setMaxThreads(MOST_THREADS);
    GMS gms = new GMS();
    gms.setJoinTimeout(JOIN_MILLIS).setMaxJoinAttempts(JOIN_ATTEMPTS);
    gms.printLocalAddress(false).printPhysicalAddress(false).logViewWarnings(false);
    Protocol[] stack = {
      made,
      new Discovery(own),
      new MERGE3().setMinInterval(MERGE_MIN_MILLIS).setMaxInterval(MERGE_MAX_MILLIS),
      new FD_ALL3().setTimeout(SILENCE_MILLIS).setInterval(HEARTBEAT_MILLIS),
      new VERIFY_SUSPECT2().setTimeout(VERIFY_MILLIS),
      new NAKACK2().useMcastXmit(false),
      new UNICAST3(),
      new STABLE(),
      gms
    };
    JChannel next = new JChannel(stack).setName(self.toString()).setReceiver(inbox);
    next.setDiscardOwnMessages(true);
    next.addAddressGenerator(this::address);
    transport = made;
    return next;
  }

  /** As others know this machine: IPv4 if it has that. */
  private static InetAddress ownAddress() throws IOException {
    InetAddress found = InetAddress.getLoopbackAddress();
    for (NetworkInterface card : NetworkInterface.networkInterfaces().toList()) {
      if (!card.isUp() || card.isLoopback()) {
        continue;
      }
      for (InetAddress address : card.inetAddresses().toList()) {
        if (address instanceof Inet4Address && !address.isLinkLocalAddress()) {
          return address;
        }
        if (!address.isLinkLocalAddress() && found.isLoopbackAddress()) {
          found = address;
        }
      }
    }
    return found;
  }

  private Address address() {
    byte[] name = self.name().getBytes(StandardCharsets.UTF_8);
    byte[] id =
        ByteBuffer.allocate(Long.BYTES + name.length).putLong(self.start()).put(name).array();
    return ExtendedUUID.randomUUID(self.toString()).put(ID, id);
  }

  /** Whose address it is; null if it does not say so. */
  private static @Nullable RouterId router(Address address) {
    byte[] id = address instanceof ExtendedUUID extended ? extended.get(ID) : null;
    if (id == null || id.length <= Long.BYTES) {
      return null;
    }
    ByteBuffer from = ByteBuffer.wrap(id);
    long start = from.getLong();
    try {
      return new RouterId(StandardCharsets.UTF_8.decode(from).toString(), start);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  // The thread that sends

  private void sendAll() {
    try {
      for (Waiting next = take(); next != null; next = take()) {
        if (next.to() == null) {
          for (Address member : members.keySet()) {
            sendTo(member, next.message());
          }
        } else {
          sendTo(places.get(next.to()), next.message());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private @Nullable Waiting take() throws InterruptedException {
    synchronized (queue) {
      while (queue.isEmpty() && !closed) {
        queue.wait();
      }
      Waiting next = closed ? null : queue.remove();
      waitingBytes -= next == null ? waitingBytes : next.message().length;
      return next;
    }
  }

  private void sendTo(@Nullable Address member, byte[] message) {
    JChannel to = channel;
    Transport over = transport;
    if (to == null || over == null || member == null || !over.hasRoom(member, message.length)) {
      dropped.increment();
      return;
    }
    try {
      sendParts(to, member, message);
    } catch (Exception e) {
      dropped.increment();
    }
  }

  private static void sendParts(JChannel to, Address member, byte[] message) throws Exception {
    if (message.length <= PART_BYTES) {
      byte[] whole = new byte[1 + message.length];
      whole[0] = WHOLE;
      System.arraycopy(message, 0, whole, 1, message.length);
      to.send(unreliable(member, whole));
      return;
    }
    for (int offset = 0; offset < message.length; offset += PART_BYTES) {
      int length = Math.min(PART_BYTES, message.length - offset);
      ByteBuffer part = ByteBuffer.allocate(PART_HEAD + length);
      part.put(PART).putInt(message.length).putInt(offset).put(message, offset, length);
      to.send(unreliable(member, part.array()));
    }
  }

  private static Message unreliable(Address member, byte[] bytes) {
    return new BytesMessage(member, bytes).setFlag(Message.Flag.NO_RELIABILITY, Message.Flag.NO_FC);
  }

  /** What comes, in order from one member. */
  private final class Inbox implements Receiver {

    private final Listener listener;

    /** The message of each member of which parts are missing; of members only. */
    private final Map<Address, ByteBuffer> unfinished = new HashMap<>();

    Inbox(Listener listener) {
      this.listener = listener;
    }

    @Override
    public void viewAccepted(View view) {
      JChannel open = channel;
      Map<Address, RouterId> others = new HashMap<>();
      Map<RouterId, Address> reached = new HashMap<>();
      for (Address member : view.getMembers()) {
        RouterId router = router(member);
        if (router != null && !router.equals(self)) {
          others.put(member, router);
          reached.put(router, member);
        }
      }
      if (view instanceof MergeView merge && open != null) {
        missOthers(merge, open.getAddress());
      }
      places = Map.copyOf(reached);
      members = Map.copyOf(others);
      synchronized (unfinished) {
        unfinished.keySet().retainAll(others.keySet());
      }
      LOG.info("cluster {}: reaches {}", config.name(), new TreeSet<>(reached.keySet()));
      listener.reachable(Set.copyOf(reached.keySet()));
    }

    /**
     * Who was in a group without this one told it nothing meanwhile. A process that stood still
     * does not know that, since its last view has them all: it is to ask them as if they came.
     */
    private void missOthers(MergeView merge, Address own) {
      Set<RouterId> heard = new HashSet<>(places.keySet());
      for (View group : merge.getSubgroups()) {
        if (!group.containsMember(own)) {
          heard.removeIf(router -> group.containsMember(places.get(router)));
        }
      }
      if (heard.size() < places.size()) {
        listener.reachable(Set.copyOf(heard));
      }
    }

    @Override
    public void receive(Message message) {
      RouterId from = members.get(message.getSrc());
      byte[] array = message.getArray();
      if (from == null || array == null) {
        return;
      }
      int offset = message.getOffset();
      int length = message.getLength();
      if (length > 1 && length <= 1 + PART_BYTES && array[offset] == WHOLE) {
        listener.received(from, Arrays.copyOfRange(array, offset + 1, offset + length));
      } else if (length > PART_HEAD && array[offset] == PART) {
        byte[] whole = join(message.getSrc(), ByteBuffer.wrap(array, offset + 1, length - 1));
        if (whole != null) {
          listener.received(from, whole);
        }
      } else {
        refused.increment();
      }
    }

    /** The message that this part ends; null if there is none. */
    private byte @Nullable [] join(Address from, ByteBuffer part) {
      int length = part.getInt();
      int offset = part.getInt();
      if (length > LONGEST_MESSAGE || offset < 0 || (long) offset + part.remaining() > length) {
        refused.increment();
        return null;
      }
      synchronized (unfinished) {
        if (offset == 0) {
          unfinished.put(from, ByteBuffer.allocate(length));
        }
        ByteBuffer whole = unfinished.get(from);
        if (whole == null || whole.capacity() != length || whole.position() != offset) {
          unfinished.remove(from);
          return null;
        }
        whole.put(part);
        if (whole.hasRemaining()) {
          return null;
        }
        unfinished.remove(from);
        byte[] message = new byte[whole.capacity()];
        whole.flip().get(message);
        return message;
      }
    }
  }

  /** Seals and counts what goes over connections. */
  private final class Transport extends TCP_NIO2 {

    /** What a connection waits to write; it drops silently what finds no room, and nobody asks. */
    private static final VarHandle UNSENT = unsentField();

    private static VarHandle unsentField() {
      try {
        return MethodHandles.privateLookupIn(NioConnection.class, MethodHandles.lookup())
            .findVarHandle(NioConnection.class, "send_buf", Buffers.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    Transport() {
      setId(ClassConfigurator.getProtocolId(TCP_NIO2.class));
    }

    /** Without it: it would listen for questions from anywhere. */
    @Override
    public DiagnosticsHandler createDiagnosticsHandler() {
      return super.createDiagnosticsHandler().setEnabled(false);
    }

    /** What waits for the member's connection; null without one. */
    @Nullable Buffers unsent(Address member) {
      PhysicalAddress place = getPhysicalAddressFromCache(member);
      try {
        boolean isOpen = place != null && server.hasConnection(place);
        return isOpen ? (Buffers) UNSENT.get((NioConnection) server.getConnection(place)) : null;
      } catch (Exception e) {
        return null;
      }
    }

    boolean hasRoom(Address member, int bytes) {
      Buffers unsent = unsent(member);
      int frames = 2 + bytes / PART_BYTES;
      return unsent == null
          || (unsent.remaining() + bytes <= queueBytes
              && unsent.size() / 2 + frames <= MOST_FRAMES);
    }

    @Override
    public void send(Address to, byte[] data, int offset, int length) throws Exception {
      if (seal == null) {
        sent.add(length);
        super.send(to, data, offset, length);
        return;
      }
      byte[] frame = seal.close(ByteBuffer.wrap(data, offset, length));
      sent.add(frame.length);
      super.send(to, frame, 0, frame.length);
    }

    // A frame comes by any of these.

    @Override
    public void receive(Address from, ByteBuffer frame) {
      byte[] data = new byte[frame.remaining()];
      frame.get(data);
      receive(from, data, 0, data.length);
    }

    @Override
    public void receive(Address from, DataInput in, int length) throws IOException {
      byte[] data = new byte[length];
      in.readFully(data);
      receive(from, data, 0, length);
    }

    @Override
    public void receive(Address from, byte[] data, int offset, int length) {
      received.add(length);
      if (seal == null) {
        super.receive(from, data, offset, length);
        return;
      }
      byte[] plain = seal.open(data, offset, length);
      if (plain == null) {
        refused.increment();
      } else {
        super.receive(from, plain, 0, plain.length);
      }
    }
  }

  /** Knows the addresses of the last look. */
  private final class Discovery extends TCPPING {

    private final InetAddress own;

    Discovery(InetAddress own) {
      this.own = own;
      setId(ClassConfigurator.getProtocolId(TCPPING.class));
      initial_hosts_set_programmatically = true;
    }

    @Override
    public void findMembers(List<Address> asked, boolean isFirst, Responses responses) {
      Collection<PhysicalAddress> hosts = new ArrayList<>();
      for (InetSocketAddress peer : peers) {
        // An address of the other family is the same router's, or cannot be reached from here.
        if (peer.getAddress().getClass() == own.getClass()) {
          hosts.add(new IpAddress(peer.getAddress(), peer.getPort()));
        }
      }
      initial_hosts = hosts;
      super.findMembers(asked, isFirst, responses);
    }
  }
}
