package dev.warmpath.router.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warmpath.router.cluster.Rows.ClientRow;
import dev.warmpath.router.cluster.Rows.EngineRow;
import dev.warmpath.router.cluster.Rows.IdSet;
import dev.warmpath.router.cluster.Rows.QueueRow;
import dev.warmpath.router.fleet.Booking;
import dev.warmpath.router.fleet.PrefillModel;
import dev.warmpath.router.routing.PrefillCost;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** What routers tell each other may be lost, repeated and reordered: all come to know the same. */
class ClusterLawsTest {

  /** A router that does this and that, and tells of it a few things at a time. */
  private static final class Teller {
    final RouterRows rows = new RouterRows();
    final List<byte[]> messages = new ArrayList<>();
    final Set<Long> notComputed = new HashSet<>();
    private final Random random;
    private Rows untold = new Rows();
    private long next;

    Teller(Random random) {
      this.random = random;
    }

    void act() {
      switch (random.nextInt(8)) {
        case 0, 1, 2 -> book();
        case 3 -> prefill();
        case 4 -> end();
        case 5 -> see();
        case 6 -> use();
        default -> tell();
      }
    }

    private void book() {
      Booking booking =
          new Booking(next++, "e" + random.nextInt(3), 100, 40, true, true, 0, null, new long[0]);
      rows.book(booking, 0, RouterRows.Changes.NONE);
      untold.booked.add(new Rows.Booked(booking, 0));
    }

    private void prefill() {
      if (next > 0) {
        long id = random.nextLong(next);
        if (rows.live(id) != null) {
          rows.prefilled(id, RouterRows.Changes.NONE);
          untold.prefilled.add(id);
        }
      }
    }

    private void end() {
      if (next > 0) {
        long id = random.nextLong(next);
        if (rows.live(id) != null && random.nextBoolean()) {
          untold.notComputed.add(id);
          notComputed.add(id);
        }
        rows.end(id, id, List.of(), RouterRows.Changes.NONE);
        untold.ended.add(id);
      }
    }

    private void see() {
      String engine = "e" + random.nextInt(3);
      EngineRow before = rows.engine(engine);
      EngineRow row =
          new EngineRow(
              engine,
              before == null ? 1 : before.version() + 1,
              new PrefillModel.Speed(random.nextInt(9), PrefillCost.DEFAULT, random.nextInt(9)),
              random.nextInt(9));
      rows.engine(row, RouterRows.Changes.NONE);
      untold.engines.add(row);
    }

    private void use() {
      ClientRow before = rows.client("c");
      ClientRow row =
          new ClientRow(
              "c", before == null ? 1 : before.version() + 1, random.nextInt(9), random.nextInt(9));
      rows.client(row, RouterRows.Changes.NONE);
      untold.clients.add(row);
      QueueRow queue = new QueueRow(rows.queue().version() + 1, random.nextInt(9), 0);
      rows.queue(queue);
      untold.queue = queue;
    }

    void tell() {
      ClusterMessage.write(untold, messages::add);
      untold = new Rows();
    }

    List<byte[]> whole() {
      List<byte[]> all = new ArrayList<>();
      ClusterMessage.write(rows.whole(0), all::add);
      return all;
    }
  }

  /** A router that is told, and what it does about each change; as its cluster, it counts. */
  private static final class Hearer implements RouterRows.Changes {
    final RouterRows rows = new RouterRows();
    final Set<Long> notComputed = new HashSet<>();
    private final Map<Long, Boolean> prefilledOfOpen = new HashMap<>();
    private final Set<Long> over = new HashSet<>();
    private final Map<String, EngineRow> engines = new HashMap<>();
    private long clientRequests;
    private long clientVersion;

    static Hearer of(List<byte[]> messages) {
      Hearer hearer = new Hearer();
      messages.forEach(hearer::merge);
      return hearer;
    }

    void merge(byte[] message) {
      try {
        merge(ClusterMessage.rows(message));
      } catch (ClusterMessage.MalformedException e) {
        throw new AssertionError(e);
      }
    }

    void merge(Rows told) {
      rows.merge(told, 0, this);
      Map<Long, Boolean> open = new HashMap<>();
      for (RouterRows.Live live : rows.live()) {
        if (live.booking != null) {
          open.put(live.id, live.prefilled);
        }
      }
      assertEquals(open, prefilledOfOpen, "each booking counts from when it is told to its end");
      for (EngineRow row : rows.engines()) {
        assertEquals(row, engines.get(row.engine()));
      }
      ClientRow client = rows.client("c");
      assertEquals(client == null ? 0 : client.requests(), clientRequests);
    }

    @Override
    public void booked(RouterRows.Live live) {
      assertFalse(over.contains(live.id), "it is over");
      assertNull(prefilledOfOpen.put(live.id, live.prefilled), "counted twice");
    }

    @Override
    public void prefilled(RouterRows.Live live) {
      assertEquals(false, prefilledOfOpen.put(live.id, true));
    }

    @Override
    public void ended(RouterRows.Live live, boolean computed) {
      assertNotNull(prefilledOfOpen.remove(live.id), "given back twice");
      over.add(live.id);
      if (!computed) {
        notComputed.add(live.id);
      }
    }

    @Override
    public void engine(EngineRow row, EngineRow before) {
      assertEquals(before, engines.put(row.engine(), row));
      assertTrue(before == null || row.version() > before.version());
    }

    @Override
    public void client(ClientRow row, ClientRow before) {
      assertTrue(row.version() > clientVersion);
      clientVersion = row.version();
      clientRequests += row.requests() - (before == null ? 0 : before.requests());
    }
  }

  private static RouterRows merged(List<byte[]> messages) {
    return Hearer.of(messages).rows;
  }

  private static Teller history(Random random) {
    Teller teller = new Teller(random);
    int acts = 1 + random.nextInt(60);
    for (int i = 0; i < acts; i++) {
      teller.act();
    }
    teller.tell();
    return teller;
  }

  @Property(tries = 10_000)
  void orderAndRepetitionDoNotMatter(@ForAll Random random) {
    Teller teller = history(random);
    List<byte[]> disordered = new ArrayList<>(teller.messages);
    for (byte[] message : teller.messages) {
      if (random.nextBoolean()) {
        disordered.add(message);
      }
    }
    Collections.shuffle(disordered, random);
    RouterRows heard = merged(disordered);
    Hearer inOrder = Hearer.of(teller.messages);
    assertTrue(heard.isSame(inOrder.rows), "commutative, idempotent");
    assertTrue(heard.isSame(teller.rows), "all was told");
    assertEquals(teller.rows.digest(), heard.digest());
    assertEquals(teller.notComputed, inOrder.notComputed, "what ended without its prompt");
  }

  @Property(tries = 10_000)
  void whatIsMergedInPartsIsMergedWhole(@ForAll Random random) {
    Teller teller = history(random);
    int cut = random.nextInt(teller.messages.size() + 1);
    Hearer first = Hearer.of(teller.messages.subList(0, cut));
    RouterRows second = merged(teller.messages.subList(cut, teller.messages.size()));
    first.merge(second.whole(0)); // a ∘ (b ∘ c)
    assertTrue(first.rows.isSame(merged(teller.messages)), "associative");
  }

  @Property(tries = 10_000)
  void lossIsSeenAndMadeGood(@ForAll Random random) {
    Teller teller = history(random);
    List<byte[]> some = new ArrayList<>(teller.messages);
    some.removeIf(message -> random.nextInt(3) == 0);
    Collections.shuffle(some, random);
    Hearer heard = Hearer.of(some);
    if (heard.rows.digest() != teller.rows.digest()) {
      teller.whole().forEach(heard::merge);
    }
    assertEquals(teller.rows.digest(), heard.rows.digest());
    assertEquals(stages(teller.rows), stages(heard.rows), "the digest shows every difference");
    // what comes late brings nothing back
    Collections.shuffle(teller.messages, random);
    teller.messages.forEach(heard::merge);
    assertTrue(heard.rows.isSame(teller.rows));
  }

  /** Of bookings under way: whether they have their first token. */
  private static Map<Long, Boolean> stages(RouterRows rows) {
    Map<Long, Boolean> stages = new HashMap<>();
    rows.live().forEach(live -> stages.put(live.id, live.prefilled));
    return stages;
  }

  @Property(tries = 10_000)
  void settingsConverge(@ForAll Random random) {
    int routers = 2 + random.nextInt(3);
    List<LastWriterMap> maps = new ArrayList<>();
    List<List<LastWriterMap.Entry>> inbox = new ArrayList<>();
    for (int i = 0; i < routers; i++) {
      maps.add(new LastWriterMap());
      inbox.add(new ArrayList<>());
    }
    for (int act = 0; act < 30; act++) {
      int who = random.nextInt(routers);
      String value = random.nextInt(4) == 0 ? null : "v" + act;
      LastWriterMap.Entry said =
          maps.get(who).put("n" + random.nextInt(3), value, random.nextInt(20), who);
      assertEquals(said, maps.get(who).get(said.name()), "who has read a value may change it");
      inbox.forEach(box -> box.add(said));
      int reader = random.nextInt(routers);
      Collections.shuffle(inbox.get(reader), random);
      inbox.get(reader).subList(0, inbox.get(reader).size() / 2).forEach(maps.get(reader)::merge);
    }
    for (int i = 0; i < routers; i++) {
      Collections.shuffle(inbox.get(i), random);
      inbox.get(i).forEach(maps.get(i)::merge);
    }
    for (LastWriterMap map : maps) {
      assertEquals(Set.copyOf(maps.get(0).entries()), Set.copyOf(map.entries()));
      assertEquals(maps.get(0).digest(), map.digest());
    }
  }

  @Property(tries = 2_000)
  void rangesAreASet(@ForAll Random random) {
    IdSet set = new IdSet();
    Set<Long> model = new HashSet<>();
    for (int i = 0; i < 60; i++) {
      long from = random.nextInt(100);
      long to = from + random.nextInt(4);
      set.add(from, to);
      for (long id = from; id <= to; id++) {
        model.add(id);
      }
    }
    int ranges = 0;
    for (long id = -1; id < 110; id++) {
      assertEquals(model.contains(id), set.contains(id), "id " + id);
      ranges += model.contains(id) && !model.contains(id - 1) ? 1 : 0;
    }
    assertEquals(ranges, set.ranges());
  }
}
