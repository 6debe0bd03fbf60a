package dev.warmpath.eventingest.memory.file;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.apply.LearnedCache;
import dev.warmpath.eventingest.knowledge.Gap;
import dev.warmpath.eventingest.memory.EngineIdentity;
import dev.warmpath.eventingest.memory.EngineMemory;
import dev.warmpath.eventingest.memory.IngestMemory;
import dev.warmpath.eventingest.sglang.SglangNamespaces;
import dev.warmpath.eventingest.stream.StreamMemory;
import dev.warmpath.eventingest.traffic.LifetimeFacts;
import dev.warmpath.eventingest.traffic.TrafficWatch;
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
 * Reads what {@link MemoryOutput} wrote. Bytes that cannot be are an {@link IOException} or an
 * {@link IllegalArgumentException}; no count is believed before the bytes behind it were seen.
 *
 * <p>Confined to its caller.
 */
final class MemoryInput {

  /** The first version that says when processes started. */
  private static final int WITH_START = 2;

  /** The first version that says whether names were computed. */
  private static final int WITH_RECALLED = 3;

  /** The first version that tells what happened in a process's lifetime. */
  private static final int WITH_FACTS = 4;

  /** The first version that says what SGLang's hashes were taken to show. */
  private static final int WITH_NAMESPACES = 5;

  private final DataInputStream in;
  private final int version;

  private MemoryInput(byte[] bytes, int version) {
    this.version = version;
    in = new DataInputStream(new ByteArrayInputStream(bytes));
  }

  static IngestMemory memory(byte[] bytes, int version) throws IOException {
    MemoryInput input = new MemoryInput(bytes, version);
    IngestMemory memory = input.memory();
    if (input.in.available() > 0) {
      throw new IOException(input.in.available() + " bytes too many");
    }
    return memory;
  }

  private IngestMemory memory() throws IOException {
    Instant taken = Instant.ofEpochMilli(in.readLong());
    List<EngineMemory> engines = new ArrayList<>();
    for (int left = count(); left > 0; left--) {
      engines.add(engine());
    }
    return new IngestMemory(taken, engines);
  }

  private EngineMemory engine() throws IOException {
    EngineIdentity identity = identity();
    int slot = in.readInt();
    long namedBlocks = in.readLong();
    StreamMemory stream = in.readBoolean() ? stream(identity.dialect()) : null;
    return new EngineMemory(identity, slot, namedBlocks, stream);
  }

  private EngineIdentity identity() throws IOException {
    EngineId id = new EngineId(text(), in.readInt());
    String model = text();
    String[] said = text().split(" ", 2);
    EngineDialect dialect = EngineDialect.valueOf(said[0]);
    CopyCounting removals = said.length == 1 ? dialect.removals() : CopyCounting.valueOf(said[1]);
    int droppedBlocks = in.readInt();
    // Earlier versions believed all that replays brought.
    boolean hiddenNamespaces = version >= WITH_FACTS && in.readBoolean();
    String namespaces = version < WITH_NAMESPACES ? SglangNamespaces.PLAIN.text() : text();
    return new EngineIdentity(
        id, model, dialect, droppedBlocks, removals, hiddenNamespaces, namespaces);
  }

  private StreamMemory stream(EngineDialect dialect) throws IOException {
    long lastSequence = in.readLong();
    long lastDigest = in.readLong();
    double startSeconds = version < WITH_START ? Double.NaN : in.readDouble();
    Gap gap = in.readBoolean() ? new Gap(text(), in.readBoolean()) : null;
    return new StreamMemory(lastSequence, lastDigest, startSeconds, gap, learned(dialect));
  }

  private LearnedCache learned(EngineDialect dialect) throws IOException {
    List<CacheGroup> groups = new ArrayList<>();
    for (int left = count(); left > 0; left--) {
      groups.add(group());
    }
    int highestGroup = in.readInt();
    int mainGroup = in.readInt();
    ChainSpace space = in.readBoolean() ? space() : null;
    boolean recalled = version >= WITH_RECALLED && in.readBoolean();
    int window = version < WITH_FACTS ? LearnedCache.Groups.FORGOTTEN_WINDOW : in.readInt();
    return new LearnedCache(
        new LearnedCache.Groups(groups, highestGroup, window),
        mainGroup,
        space,
        recalled,
        version < WITH_FACTS ? worst(dialect) : facts());
  }

  private LifetimeFacts facts() throws IOException {
    return new LifetimeFacts(in.readBoolean(), in.readInt(), in.readBoolean(), in.readLong());
  }

  /** What may have happened did; of hidden name spaces the identity tells. */
  private static LifetimeFacts worst(EngineDialect dialect) {
    boolean vllm = dialect == EngineDialect.VLLM;
    return new LifetimeFacts(vllm, vllm ? 0 : LifetimeFacts.NO_CHUNKS, false, TrafficWatch.NEVER);
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
