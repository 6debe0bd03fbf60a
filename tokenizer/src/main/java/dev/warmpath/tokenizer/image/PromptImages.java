package dev.warmpath.tokenizer.image;

import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The images of one model's chats: read, hashed and put among the tokens.
 *
 * <p>Thread-safe.
 */
public final class PromptImages {

  private static final ImageMemory.Facts NOTHING = new ImageMemory.Facts(null, Map.of());

  private final @Nullable ImageTokens tokens;
  private final boolean areInTokens;
  private final ImageMemory memory;
  private final LearnedImages learned;

  /** Whether engines count by the model's rules. */
  private final Doubt rules = new Doubt();

  /**
   * @param tokens null if it is not known where images of the model stand
   * @param areInTokens whether engines put an id of the image in the place of each of its tokens,
   *     as SGLang does: nothing of it can be computed, and a client's {@code uuid} is nothing to
   *     them
   */
  public PromptImages(
      @Nullable ImageTokens tokens,
      boolean areInTokens,
      ImageMemory memory,
      LearnedImages learned) {
    this.tokens = tokens;
    this.areInTokens = areInTokens;
    this.memory = memory;
    this.learned = learned;
  }

  /** Whether it is known where images of the model stand; else it may take none. */
  public boolean arePlaceable() {
    return tokens != null;
  }

  /** Whether the names that an image may have are of no use, as its tokens tell it apart. */
  public boolean areInTokens() {
    return areInTokens;
  }

  /** Collects the images of a chat that is about to be rendered. */
  public ImageParts parts() {
    return tokens == null ? ImageParts.none() : ImageParts.of(tokens.placeholder());
  }

  /** What is remembered of images that stand in chats. */
  public ImageMemory memory() {
    return memory;
  }

  /** What engines were seen to make of images. */
  public LearnedImages learned() {
    return learned;
  }

  /** Remembers at most so much of each kind from now on. */
  public void resize(long maxBytes) {
    memory.resize(maxBytes);
    learned.resize(maxBytes);
  }

  /**
   * An engine counts the tokens of a chat otherwise whose images were counted by rules: some chats
   * with images that come next are learned from, as those of a model without rules.
   *
   * @return whether that is news; several chats are often under way
   */
  public boolean doubtRules() {
    synchronized (rules) {
      return rules.wrong();
    }
  }

  /** An engine counts the tokens of such a chat in the same way. */
  public void confirmRules() {
    synchronized (rules) {
      rules.right();
    }
  }

  private boolean rulesHold() {
    synchronized (rules) {
      return !areInTokens && rules.isOver();
    }
  }

  /**
   * Puts the images of a chat among its tokens. Takes milliseconds for a megabyte that is new.
   *
   * @param ids of the rendered text, which has one token for each image
   * @param keys what tells the chat's blocks apart beside its images
   * @param mostTokens more are not put together
   * @param isUsual whether the request leaves it to the engine how images are read; if not, nothing
   *     is known of them, and nothing can be learned
   * @throws InexactPromptException if the places of images cannot be known
   * @throws CancellationException if the thread is interrupted before that
   */
  public PlacedImages place(
      int[] ids,
      ImageParts parts,
      PromptKeys keys,
      ImageNaming naming,
      long mostTokens,
      boolean isUsual) {
    ImageTokens places = tokens;
    if (places == null) {
      throw ImageParts.inexact("an image");
    }
    boolean rulesHold = rulesHold();
    List<Read> read = new ArrayList<>();
    Map<LearnedImages.Key, LearnedImages.Image> asked = new HashMap<>();
    List<int @Nullable []> runs = new ArrayList<>();
    long length = ids.length;
    for (ImageParts.Part part : parts.all()) {
      if (Thread.currentThread().isInterrupted()) {
        throw new CancellationException("the images were given up");
      }
      Read one = isUsual ? read(part, keys, naming, asked) : new Read(NOTHING, learned.stranger());
      int[] run = run(places, one, rulesHold);
      length += run == null ? 0 : run.length - 1;
      read.add(one);
      runs.add(run);
      if (length > mostTokens) {
        doubt(read);
        throw ImageParts.inexact("images that make more tokens than the model takes");
      }
    }
    ImageTokens.Expanded expanded = places.expand(ids, runs);
    if (expanded == null) {
      doubt(read);
      throw ImageParts.inexact("images that do not fit the places in the text");
    }
    List<PromptImage> images = new ArrayList<>();
    for (int i = 0; i < read.size(); i++) {
      images.add(
          new PromptImage(
              expanded.from()[i],
              expanded.lengths()[i],
              areInTokens ? ImageTokens.ABSENT : places.pad(),
              isUsual && !areInTokens ? parts.all().get(i).uuid() : null,
              naming.forms().isEmpty() ? Map.of() : read.get(i).facts.identifiers(),
              rulesHold && places.fixedRun() != null,
              read.get(i).learned));
    }
    return new PlacedImages(expanded.ids(), keys, images, areInTokens, naming.usual());
  }

  /** What is believed of images makes a chat that cannot be; no engine would ever tell of it. */
  private static void doubt(List<Read> read) {
    read.forEach(one -> one.learned.doubt());
  }

  private record Read(ImageMemory.Facts facts, LearnedImages.Image learned) {}

  /**
   * @param asked what was believed when this chat had the image before
   */
  private Read read(
      ImageParts.Part part,
      PromptKeys keys,
      ImageNaming naming,
      Map<LearnedImages.Key, LearnedImages.Image> asked) {
    LearnedImages.Key key = memory.key(part.url(), keys.loraName());
    if (areInTokens) {
      return new Read(NOTHING, asked.computeIfAbsent(key, learned::image));
    }
    ImageMemory.Facts facts =
        DataUrl.isOne(part.url())
            ? memory.of(key, part.url(), part.uuid() == null ? naming.forms() : List.of())
            : NOTHING;
    LearnedImages.Key known =
        part.uuid() == null ? key : memory.key("uuid " + part.uuid(), keys.loraName());
    return new Read(facts, asked.computeIfAbsent(known, learned::image));
  }

  private static int @Nullable [] run(ImageTokens places, Read image, boolean rulesHold) {
    int[] fixed = places.fixedRun();
    LearnedImages.Belief belief = image.learned.belief();
    ImageHeader header = image.facts.header();
    if (fixed != null && rulesHold) {
      return fixed;
    }
    if (belief != null) {
      return belief.run();
    }
    return header == null || !rulesHold ? null : places.run(header);
  }
}
