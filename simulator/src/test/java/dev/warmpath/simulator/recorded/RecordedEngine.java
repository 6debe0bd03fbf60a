package dev.warmpath.simulator.recorded;

import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.eventingest.capture.CaptureStream;
import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.eventingest.wire.decode.ColumnDecoder;
import dev.warmpath.eventingest.wire.decode.EventColumns;
import dev.warmpath.eventingest.wire.decode.EventRow;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.engine.cache.KvCacheConfig;
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
  private int held;
  private int mostHeld;
  private int removed;
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

  /** Blocks of its cache, the null block included: it evicts only when all others are cached. */
  int blocks() {
    return removed > 0 ? mostHeld + 1 : 4 * mostHeld;
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
    KvCacheConfig cache = new KvCacheConfig(size, blocks(), simulated, true);
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
        held = 0;
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
      held = 0;
    } else if (isOnDevice(event.place())) {
      if (event.kind() == EventRow.Kind.STORED) {
        held += event.hashCount();
        mostHeld = Math.max(mostHeld, held);
        longestStoreTokens = Math.max(longestStoreTokens, event.tokenIds().length);
        readStore(event, order);
      } else {
        held -= event.hashCount();
        removed += event.hashCount();
      }
    }
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
