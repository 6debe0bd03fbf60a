package dev.warmpath.eventingest.snapshot.file;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.apply.LearnedCache;
import dev.warmpath.eventingest.snapshot.EngineIdentity;
import dev.warmpath.eventingest.snapshot.EngineSnapshot;
import dev.warmpath.eventingest.snapshot.IngestSnapshot;
import dev.warmpath.eventingest.snapshot.StreamSnapshot;
import dev.warmpath.eventingest.snapshot.StreamSnapshot.Gap;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.block.ChainSpace;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads what {@link SnapshotEncoder} wrote. Bytes that cannot be are an {@link IOException} or an
 * {@link IllegalArgumentException}; no count is believed before the bytes behind it were seen.
 *
 * <p>Confined to its caller.
 */
final class SnapshotDecoder {

  /** What it says of requests whose name space events hide is not needed any more. */
  private static final int WITH_HIDDEN_REQUESTS = 5;

  private final DataInputStream in;
  private final int version;

  private SnapshotDecoder(byte[] bytes, int version) {
    this.version = version;
    in = new DataInputStream(new ByteArrayInputStream(bytes));
  }

  static IngestSnapshot snapshot(byte[] bytes, int version) throws IOException {
    SnapshotDecoder input = new SnapshotDecoder(bytes, version);
    IngestSnapshot snapshot = input.snapshot();
    if (input.in.available() > 0) {
      throw new IOException(input.in.available() + " bytes too many");
    }
    return snapshot;
  }

  private IngestSnapshot snapshot() throws IOException {
    Instant taken = Instant.ofEpochMilli(in.readLong());
    List<EngineSnapshot> engines = new ArrayList<>();
    for (int left = count(); left > 0; left--) {
      engines.add(engine());
    }
    return new IngestSnapshot(taken, engines);
  }

  private EngineSnapshot engine() throws IOException {
    EngineIdentity identity = identity();
    int slot = in.readInt();
    long namedBlocks = in.readLong();
    StreamSnapshot stream = in.readBoolean() ? stream() : null;
    return new EngineSnapshot(identity, slot, namedBlocks, stream);
  }

  private EngineIdentity identity() throws IOException {
    EngineId id = new EngineId(text(), in.readInt());
    String model = text();
    String[] said = text().split(" ", 2);
    EngineDialect dialect = EngineDialect.valueOf(said[0]);
    CopyCounting removals = said.length == 1 ? dialect.removals() : CopyCounting.valueOf(said[1]);
    int droppedBlocks = in.readInt();
    skipHidden(1);
    return new EngineIdentity(id, model, dialect, droppedBlocks, removals, text());
  }

  private StreamSnapshot stream() throws IOException {
    long lastSequence = in.readLong();
    long lastDigest = in.readLong();
    double startSeconds = in.readDouble();
    Gap gap = in.readBoolean() ? new Gap(text(), in.readBoolean()) : null;
    return new StreamSnapshot(lastSequence, lastDigest, startSeconds, gap, learned());
  }

  private LearnedCache learned() throws IOException {
    List<CacheGroup> groups = new ArrayList<>();
    for (int left = count(); left > 0; left--) {
      groups.add(group());
    }
    int highestGroup = in.readInt();
    int mainGroup = in.readInt();
    ChainSpace space = in.readBoolean() ? space() : null;
    boolean anyComputed = in.readBoolean();
    LearnedCache.Groups known = new LearnedCache.Groups(groups, highestGroup, in.readInt());
    skipHidden(1);
    int chunkBlocks = in.readInt();
    skipHidden(1 + Long.BYTES);
    return new LearnedCache(known, mainGroup, space, anyComputed, chunkBlocks);
  }

  private void skipHidden(int bytes) throws IOException {
    if (version == WITH_HIDDEN_REQUESTS) {
      in.skipNBytes(bytes);
    }
  }

  private CacheGroup group() throws IOException {
    int index = in.readInt();
    CacheGroup.Kind kind = CacheGroup.Kind.valueOf(text());
    return new CacheGroup(index, kind, in.readInt(), in.readInt());
  }

  private @Nullable ChainSpace space() throws IOException {
    return new ChainSpace(text(), in.readInt(), in.readInt());
  }

  /** Each item takes a byte at least. */
  private int count() throws IOException {
    int count = in.readInt();
    if (count < 0 || count > in.available()) {
      throw new IOException("count=" + count);
    }
    return count;
  }

  private String text() throws IOException {
    return new String(in.readNBytes(count()), StandardCharsets.UTF_8);
  }
}
