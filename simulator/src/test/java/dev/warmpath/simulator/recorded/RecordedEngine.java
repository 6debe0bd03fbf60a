package dev.warmpath.simulator.recorded;

import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.ColumnDecoder;
import dev.warmpath.eventingest.wire.EventColumns;
import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A capture of one engine, read whole. Confined to its test. */
final class RecordedEngine {

  private static final int RUNNING_SEQUENCES = 256;

  final CaptureStream stream;
  final List<CaptureRecord> records = new ArrayList<>();
  final Map<String, RecordedRequest> requests = new LinkedHashMap<>();
  final StoredTokens stored;

  private final Map<Integer, CacheGroup> groups = new TreeMap<>();
  private final Held device = new Held();
  private final Held host = new Held();
  private int longestStoreTokens;

  RecordedEngine(Path file) throws IOException, WireException {
    try (CaptureReader reader = CaptureReader.open(file)) {
      stream = reader.header().streams().get(0);
      stored = new StoredTokens(stream.blockSizeTokens());
      CaptureRecord record = reader.next();
      while (record != null) {
        records.add(record);
        record = reader.next();
      }
    }
    readRequests();
    readEvents();
  }

  /** Blocks that were held in one memory. */
  private static final class Held {
    private int now;
    private int most;
    private int removed;

    void stored(int blocks) {
      now += blocks;
      most = Math.max(most, now);
    }

    void removed(int blocks) {
      now -= blocks;
      removed += blocks;
    }

    /** Its size: it evicts only when it is full. */
    int blocks() {
      return removed > 0 ? most : 4 * most;
    }
  }

  /** Blocks of its cache, the null block included. */
  int blocks() {
    return device.blocks() + (device.removed > 0 ? 1 : 0);
  }

  /** Blocks of its host tier. */
  int hostBlocks() {
    return host.blocks();
  }

  /** An engine of the same size. A state of linear attention is a window of one block. */
  EngineConfig config() {
    int size = stream.blockSizeTokens();
    List<CacheGroup> simulated = new ArrayList<>();
    simulated.add(new CacheGroup(0, Kind.FULL_ATTENTION, size, 0));
    for (CacheGroup group : groups.values()) {
      if (group.kind() != Kind.FULL_ATTENTION) {
        int window = group.kind() == Kind.MAMBA ? size + 1 : group.slidingWindowTokens();
        simulated.add(new CacheGroup(simulated.size(), Kind.SLIDING_WINDOW, size, window));
      }
    }
    KvCacheConfig cache = new KvCacheConfig(size, blocks(), simulated, true).withHost(hostBlocks());
    return new EngineConfig(
        cache, stepTokens(), RUNNING_SEQUENCES, cache.maxSequenceTokens(), StepCost.H100X4);
  }

  /** What one store never exceeded, if there were longer prompts. */
  private int stepTokens() {
    int longestPrompt =
        requests.values().stream().mapToInt(request -> request.prompt().length).max().orElse(0);
    return longestPrompt >= longestStoreTokens + stream.blockSizeTokens()
        ? Math.max(longestStoreTokens, stream.blockSizeTokens())
        : longestPrompt + RUNNING_SEQUENCES;
  }

  private void readRequests() {
    Map<String, Response> responses = new HashMap<>();
    for (CaptureRecord record : records) {
      if (record instanceof Response response) {
        responses.put(response.requestId(), response);
      }
    }
    boolean quiet = false;
    for (int i = 0; i < records.size(); i++) {
      CaptureRecord record = records.get(i);
      if (isQuiescence(record)) {
        quiet = true;
      } else if (record instanceof Request request) {
        String id = request.requestId();
        requests.put(id, new RecordedRequest(i, settled(i), quiet, request, responses.get(id)));
        quiet = false;
      }
    }
  }

  private long settled(int from) {
    int at = from;
    while (at < records.size() && !isQuiescence(records.get(at))) {
      at++;
    }
    return at;
  }

  private static boolean isQuiescence(CaptureRecord record) {
    return record instanceof Mark mark && mark.name().equals("quiescent");
  }

  private void readEvents() throws IOException, WireException {
    ColumnDecoder decoder = new ColumnDecoder();
    for (int i = 0; i < records.size(); i++) {
      CaptureRecord record = records.get(i);
      if (record instanceof Mark mark && mark.name().equals("engine-started")) {
        forget();
      } else if (record instanceof Events events) {
        EventColumns batch = decoder.decode(events.payload());
        for (int event = 0; event < batch.events(); event++) {
          read(batch.row(event), i);
        }
      } else if (record instanceof Replay replay) {
        readTokens(replay, decoder, i);
      }
    }
  }

  private void readTokens(Replay replay, ColumnDecoder decoder, long order) throws WireException {
    for (List<byte[]> frames : replay.replies()) {
      byte[] payload = frames.get(frames.size() - 1);
      if (payload.length > 0) {
        EventColumns batch = decoder.decode(payload);
        for (int event = 0; event < batch.events(); event++) {
          if (batch.row(event).kind() == EventRow.Kind.STORED) {
            readStore(batch.row(event), order);
          }
        }
      }
    }
  }

  private void read(EventRow event, long order) {
    if (event.kind() == EventRow.Kind.CLEARED) {
      forget();
      return;
    }
    boolean onDevice = isOnDevice(event.place());
    Held held = onDevice ? device : host;
    if (event.kind() == EventRow.Kind.REMOVED) {
      held.removed(event.hashCount());
      return;
    }
    held.stored(event.hashCount());
    if (onDevice) {
      longestStoreTokens = Math.max(longestStoreTokens, event.tokenIds().length);
      readStore(event, order);
    }
  }

  private void forget() {
    device.now = 0;
    host.now = 0;
  }

  private void readStore(EventRow block, long order) {
    CacheGroup group =
        new CacheGroup(
            block.place().groupIdx(),
            block.spec().rule(),
            stream.blockSizeTokens(),
            block.spec().slidingWindowTokens());
    groups.put(group.index(), group);
    if (group.kind() == Kind.FULL_ATTENTION) {
      stored.add(block, order);
    }
  }

  private static boolean isOnDevice(BlockPlace place) {
    return place.medium().equals(BlockPlace.DEFAULT_MEDIUM);
  }
}
