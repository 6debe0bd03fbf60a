package dev.warmpath.tokenizer.image;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * What stands for images among the tokens of one model's prompts, by the rules of vLLM 0.32 and the
 * model's own image processor.
 *
 * <p>Immutable.
 */
public abstract class ImageTokens {

  static final int ABSENT = -1;
  private static final int EXPANDED_MOST = 1 << 24;

  private final @Nullable String placeholder;
  private final int target;

  /**
   * Token ids with placeholders, and where they stand.
   *
   * @param ids not to be changed
   * @param from the first placeholder of each image
   * @param lengths how many each of them has; 0 where one token stands for all
   */
  @SuppressWarnings("ArrayRecordComponent") // read at once, never compared
  public record Expanded(int[] ids, int[] from, int[] lengths) {}

  private ImageTokens(@Nullable String placeholder, int target) {
    this.placeholder = placeholder;
    this.target = target;
  }

  /**
   * The rules of a model, or what it takes to learn; null if nothing tells where its images stand.
   *
   * @param model {@code config.json}
   * @param image {@code preprocessor_config.json}
   * @param processor {@code processor_config.json}, empty if there is none
   * @param idOf the id of a token, −1 if the tokenizer has none
   */
  public static @Nullable ImageTokens of(
      ObjectNode model, ObjectNode image, ObjectNode processor, ToIntFunction<String> idOf) {
    ImageTokens ruled = ruled(model, image, processor, idOf);
    return ruled == null ? Unruled.of(model) : ruled;
  }

  private static @Nullable ImageTokens ruled(
      ObjectNode model, ObjectNode image, ObjectNode processor, ToIntFunction<String> idOf) {
    JsonNode nested = processor.path("image_processor");
    if (nested.isObject() && !image.isEmpty() && !nested.equals(image)) {
      return null;
    }
    JsonNode options = nested.isObject() ? nested : image;
    boolean resizes = options.path("do_resize").asBoolean(true);
    if (options.isEmpty() || !resizes) {
      return null;
    }
    return switch (model.path("architectures").path(0).asText("")) {
      case "Qwen2VLForConditionalGeneration",
          "Qwen2_5_VLForConditionalGeneration",
          "Qwen3VLForConditionalGeneration",
          "Qwen3VLMoeForConditionalGeneration" ->
          Qwen.of(options, idOf);
      case "Gemma3ForConditionalGeneration" -> Gemma.of(options, processor, idOf);
      case "Llama4ForConditionalGeneration" -> Llama.of(model, options, idOf);
      default -> null;
    };
  }

  /** What stands for an image where the content of a message is one text; null if unknown. */
  public @Nullable String placeholder() {
    return placeholder;
  }

  /**
   * The tokens with each image's own in place of the one token that the text has for it; null if
   * there are not as many of these as images.
   *
   * @param runs the tokens of each image; null where they are not known, then the one token stays
   */
  @Nullable Expanded expand(int[] ids, List<int @Nullable []> runs) {
    long length = ids.length;
    for (int[] run : runs) {
      length += run == null ? 0 : run.length - 1;
    }
    long targets = Arrays.stream(ids).filter(id -> id == target).count();
    return targets == runs.size() && length <= EXPANDED_MOST
        ? joined(ids, runs, (int) length)
        : null;
  }

  private @Nullable Expanded joined(int[] ids, List<int @Nullable []> runs, int length) {
    int[] all = new int[length];
    int[] from = new int[runs.size()];
    int at = 0;
    int next = 0;
    for (int id : ids) {
      if (id == target) {
        int[] given = runs.get(next);
        int[] run = given == null ? new int[] {id} : given;
        from[next++] = at;
        System.arraycopy(run, 0, all, at, run.length);
        at += run.length;
      } else {
        all[at++] = id;
      }
    }
    int[] lengths = runs.stream().mapToInt(run -> run == null ? 0 : run.length).toArray();
    return finished(new Expanded(all, from, lengths), runs);
  }

  /** What the engine makes of the tokens in the end; null if the runs are not the model's. */
  @Nullable Expanded finished(Expanded expanded, List<int @Nullable []> runs) {
    return expanded;
  }

  /** What stands for one image; null if no rule tells that. */
  abstract int @Nullable [] run(ImageHeader image);

  /** What stands for any image; null if that differs. */
  int @Nullable [] fixedRun() {
    return null;
  }

  /** The token of which all of an image are; −1 if there are several or it is not known. */
  int pad() {
    return ABSENT;
  }

  private static int[] repeated(int id, int times) {
    int[] ids = new int[times];
    Arrays.fill(ids, id);
    return ids;
  }

  /** Qwen2-VL, Qwen2.5-VL and Qwen3-VL: as many as the resized image has patches, merged. */
  private static final class Qwen extends ImageTokens {
    private static final String PAD = "<|image_pad|>";
    private static final Set<String> PROCESSORS =
        Set.of(
            "", "Qwen2VLImageProcessor", "Qwen2VLImageProcessorFast", "Qwen2_5_VLImageProcessor");
    private static final int MOST_RATIO = 200;

    private final int pad;
    private final int factor;
    private final long minPixels;
    private final long maxPixels;

    private Qwen(int pad, int factor, long minPixels, long maxPixels) {
      super("<|vision_start|>" + PAD + "<|vision_end|>", pad);
      this.pad = pad;
      this.factor = factor;
      this.minPixels = minPixels;
      this.maxPixels = maxPixels;
    }

    static @Nullable ImageTokens of(JsonNode options, ToIntFunction<String> idOf) {
      int pad = idOf.applyAsInt(PAD);
      int factor = options.path("patch_size").asInt(14) * options.path("merge_size").asInt(2);
      JsonNode size = options.path("size");
      long least = limit(options.path("min_pixels"), size.path("shortest_edge"), 56 * 56);
      long most = limit(options.path("max_pixels"), size.path("longest_edge"), 28 * 28 * 1280);
      boolean known = PROCESSORS.contains(options.path("image_processor_type").asText(""));
      return known && pad != ABSENT && factor > 0 && least > 0 && most >= least
          ? new Qwen(pad, factor, least, most)
          : null;
    }

    private static long limit(JsonNode given, JsonNode ofSize, long usual) {
      return given.isNumber() ? given.asLong() : ofSize.asLong(usual);
    }

    @Override
    int pad() {
      return pad;
    }

    @Override
    int @Nullable [] run(ImageHeader image) {
      double height = image.height();
      double width = image.width();
      if (Math.max(height, width) / Math.min(height, width) > MOST_RATIO) {
        return null;
      }
      double rows = Math.rint(height / factor);
      double columns = Math.rint(width / factor);
      double pixels = rows * factor * columns * factor;
      if (pixels > maxPixels) {
        double beta = Math.sqrt(height * width / maxPixels);
        rows = Math.max(1, Math.floor(height / beta / factor));
        columns = Math.max(1, Math.floor(width / beta / factor));
      } else if (pixels < minPixels) {
        double beta = Math.sqrt(minPixels / (height * width));
        rows = Math.ceil(height * beta / factor);
        columns = Math.ceil(width * beta / factor);
      }
      double count = rows * columns;
      return count <= EXPANDED_MOST ? repeated(pad, (int) count) : null;
    }
  }

  /** Gemma 3: a fixed number, between line breaks that join those of the text. */
  private static final class Gemma extends ImageTokens {
    private static final Set<String> PROCESSORS =
        Set.of("", "Gemma3ImageProcessor", "Gemma3ImageProcessorFast");
    private static final int USUAL_COUNT = 256;
    private static final String BEGIN = "<start_of_image>";

    private final int begin;
    private final int[] breaks;
    private final int[] run;

    private Gemma(int begin, int[] breaks, int[] run) {
      super(BEGIN, begin);
      this.begin = begin;
      this.breaks = breaks;
      this.run = run;
    }

    static @Nullable ImageTokens of(
        JsonNode options, JsonNode processor, ToIntFunction<String> idOf) {
      int begin = idOf.applyAsInt(BEGIN);
      int image = idOf.applyAsInt("<image_soft_token>");
      int end = idOf.applyAsInt("<end_of_image>");
      int[] breaks = new int[4];
      Arrays.setAll(breaks, i -> idOf.applyAsInt("\n".repeat(i + 1)));
      int count = processor.path("image_seq_length").asInt(USUAL_COUNT);
      boolean known =
          PROCESSORS.contains(options.path("image_processor_type").asText(""))
              && !options.path("do_pan_and_scan").asBoolean(false)
              && !processor.path("do_pan_and_scan").asBoolean(false);
      boolean complete =
          begin != ABSENT
              && image != ABSENT
              && end != ABSENT
              && Arrays.stream(breaks).noneMatch(id -> id == ABSENT);
      if (!known || !complete || count < 1 || count > EXPANDED_MOST) {
        return null;
      }
      int[] run = repeated(image, count + 4);
      run[0] = breaks[1];
      run[1] = begin;
      run[count + 2] = end;
      run[count + 3] = breaks[1];
      return new Gemma(begin, breaks, run);
    }

    @Override
    int[] run(ImageHeader image) {
      return run;
    }

    @Override
    int[] fixedRun() {
      return run;
    }

    /** Two and one, one and two, and two and two line breaks become one token, in this order. */
    @Override
    @Nullable Expanded finished(Expanded expanded, List<int @Nullable []> runs) {
      int[] merged = merge(expanded.ids(), breaks[0], breaks[1], breaks[2]);
      merged = merge(merged, breaks[1], breaks[0], breaks[2]);
      merged = merge(merged, breaks[1], breaks[1], breaks[3]);
      int[] from = new int[expanded.from().length];
      int at = 0;
      for (int i = 0; i < from.length; i++) {
        while (at < merged.length && merged[at] != begin) {
          at++;
        }
        if (at == merged.length) {
          return null;
        }
        int[] own = runs.get(i);
        int before = own == null ? 0 : before(own);
        from[i] = at - before;
        at += own == null ? 1 : Math.max(1, own.length - before - 1);
      }
      return new Expanded(merged, from, expanded.lengths());
    }

    /** How many tokens of a run stand before the first that begins an image. */
    private int before(int[] own) {
      for (int i = 0; i < own.length; i++) {
        if (own[i] == begin) {
          return i;
        }
      }
      return 0;
    }

    private static int[] merge(int[] ids, int first, int second, int one) {
      int[] merged = new int[ids.length];
      int count = 0;
      for (int i = 0; i < ids.length; i++) {
        boolean pair = i + 1 < ids.length && ids[i] == first && ids[i + 1] == second;
        merged[count++] = pair ? one : ids[i];
        i += pair ? 1 : 0;
      }
      return Arrays.copyOf(merged, count);
    }
  }

  /** Llama 4: so many for each tile of the canvas that fits best, and for the whole image. */
  private static final class Llama extends ImageTokens {
    private static final Set<String> PROCESSORS =
        Set.of("", "Llama4ImageProcessor", "Llama4ImageProcessorFast");
    private static final List<String> NAMES =
        List.of(
            "<|image|>",
            "<|image_start|>",
            "<|image_end|>",
            "<|patch|>",
            "<|tile_x_separator|>",
            "<|tile_y_separator|>");
    private static final int USUAL_SIDE = 336;
    private static final int USUAL_PATCH = 14;
    private static final int USUAL_TILES = 16;

    private final int[] tokens;
    private final int side;
    private final int tiles;
    private final int perTile;

    private Llama(int[] tokens, int side, int tiles, int perTile) {
      super("<|image|>", tokens[0]);
      this.tokens = tokens;
      this.side = side;
      this.tiles = tiles;
      this.perTile = perTile;
    }

    static @Nullable ImageTokens of(JsonNode model, JsonNode options, ToIntFunction<String> idOf) {
      int[] tokens = NAMES.stream().mapToInt(idOf).toArray();
      JsonNode vision = model.path("vision_config");
      int side = options.path("size").path("height").asInt(USUAL_SIDE);
      int tiles = options.path("max_patches").asInt(USUAL_TILES);
      int image = vision.path("image_size").asInt(USUAL_SIDE);
      int patch = vision.path("patch_size").asInt(USUAL_PATCH);
      double ratio = vision.path("pixel_shuffle_ratio").asDouble(0.5);
      boolean known =
          PROCESSORS.contains(options.path("image_processor_type").asText(""))
              && Arrays.stream(tokens).noneMatch(id -> id == ABSENT)
              && !options.path("resize_to_max_canvas").asBoolean(false)
              && side == options.path("size").path("width").asInt(USUAL_SIDE);
      if (!known || side < 1 || patch < 1 || tiles < 1 || tiles > 256 || !(ratio > 0.01)) {
        return null;
      }
      int perTile = (image / patch) * (image / patch) / (int) Math.rint(1 / (ratio * ratio));
      return perTile < 1 ? null : new Llama(tokens, side, tiles, perTile);
    }

    @Override
    int[] run(ImageHeader image) {
      int[] canvas = canvas(image);
      int rows = canvas[0];
      int columns = canvas[1];
      boolean several = rows * columns > 1;
      int length = 3 + perTile + (several ? rows * columns * (perTile + 1) : 0);
      int[] run = new int[length];
      int at = 0;
      run[at++] = tokens[1];
      for (int tile = 0; several && tile < rows * columns; tile++) {
        Arrays.fill(run, at, at + perTile, tokens[3]);
        at += perTile;
        run[at++] = (tile + 1) % columns == 0 ? tokens[5] : tokens[4];
      }
      run[at++] = tokens[0];
      Arrays.fill(run, at, at + perTile, tokens[3]);
      run[at + perTile] = tokens[2];
      return run;
    }

    /** Rows and columns: the least enlargement, else the least reduction; then the least area. */
    private int[] canvas(ImageHeader image) {
      int[] best = {1, 1};
      float bestScale = scale(image, 1, 1);
      for (int rows = 1; rows <= tiles; rows++) {
        for (int columns = 1; rows * columns <= tiles; columns++) {
          float scale = scale(image, rows, columns);
          boolean fits = scale >= 1;
          boolean better =
              fits == bestScale >= 1 ? (fits ? scale < bestScale : scale > bestScale) : fits;
          boolean smaller = scale == bestScale && rows * columns < best[0] * best[1];
          if (better || smaller) {
            best = new int[] {rows, columns};
            bestScale = scale;
          }
        }
      }
      return best;
    }

    private float scale(ImageHeader image, int rows, int columns) {
      float high = (float) (rows * side) / (float) image.height();
      float wide = (float) (columns * side) / (float) image.width();
      return Math.min(high, wide);
    }
  }

  /** A model without a rule here: one token of the text stands where its images come. */
  private static final class Unruled extends ImageTokens {
    private Unruled(int target) {
      super(null, target);
    }

    static @Nullable ImageTokens of(JsonNode model) {
      int target = model.path("image_token_id").asInt(model.path("image_token_index").asInt(-1));
      return target < 0 ? null : new Unruled(target);
    }

    @Override
    int @Nullable [] run(ImageHeader image) {
      return null;
    }
  }

  /** The ids of added tokens and, where there is none, of the vocabulary. */
  public static ToIntFunction<String> ids(
      Map<String, Integer> addedTokens, Map<String, Integer> vocabulary) {
    return token -> {
      Integer added = addedTokens.get(token);
      return added == null ? vocabulary.getOrDefault(token, ABSENT) : added;
    };
  }
}
