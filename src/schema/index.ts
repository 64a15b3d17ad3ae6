/**
 * The wire types by name. `api.d.ts` and `openapi.json` are generated from the Python structs by
 * `scripts/generate.py`; do not edit them.
 */
import type { components } from './api';

type Schemas = components['schemas'];

export type { paths, operations } from './api';

export type Report = Schemas['Report'];
export type ServingPlans = Schemas['Plans'];
export type ServingPlan = Schemas['Plan'];
export type ServingPoint = Schemas['LlmPoint'];
export type ServingLimit = Schemas['Limit'];
export type Task = Schemas['Task'];
export type TaskKernel = Schemas['TaskKernel'];
export type TaskLayer = Schemas['TaskLayer'];
export type TaskRequest = Schemas['TaskRequest'];
export type TaskResult = Schemas['TaskResult'];
export type TaskTimes = Schemas['TaskTimes'];
export type TaskVerification = Schemas['TaskVerification'];
export type Upload = Schemas['Upload'];
export type ReportDocument = Schemas['ReportDocument'];
export type SectionBlock = Schemas['SectionBlock'];
export type SectionCell = Schemas['SectionCell'];
export type SectionInfo = Schemas['SectionInfo'];
export type ModelInfo = Schemas['ModelInfo'];
export type Description = Schemas['Description'];
export type OpsetImport = Schemas['OpsetImport'];
export type GraphInfo = Schemas['GraphInfo'];
export type ValueInfo = Schemas['ValueInfo'];
export type Layer = Schemas['Layer'];
export type Block = Schemas['Block'];
export type Metrics = Schemas['Metrics'];
export type OpTotals = Schemas['OpTotals'];
export type Coverage = Schemas['Coverage'];
export type DimInfo = Schemas['DimInfo'];
export type DiagnosticInfo = Schemas['DiagnosticInfo'];
export type RiskSignal = Schemas['RiskSignal'];
export type Generator = Schemas['Generator'];

export type GraphPayload = Schemas['GraphPayload'];
export type ComparisonColumns = Schemas['ComparisonColumns'];
export type AlignedBlock = Schemas['AlignedBlock'];
export type AlignedChange = Schemas['AlignedChange'];
export type BatchOffer = Schemas['BatchOffer'];
export type BatchAnswer = Schemas['BatchAnswer'];
export type OpEntry = Schemas['OpEntry'];
export type NodeColumns = Schemas['NodeColumns'];
export type TensorColumns = Schemas['TensorColumns'];
export type ScopeColumns = Schemas['ScopeColumns'];
export type GraphColumns = Schemas['GraphColumns'];
export type ExpressionPool = Schemas['ExpressionPool'];
export type ExpressionCondition = Schemas['ExpressionCondition'];
export type TimelineColumns = Schemas['TimelineColumns'];
export type HardwarePart = Schemas['HardwarePart'];
export type DeviceColumns = Schemas['DeviceColumns'];
export type DevicePrice = Schemas['DevicePrice'];
export type LatencyModel = Schemas['LatencyModel'];
export type LatencyBand = Schemas['LatencyBand'];
export type KernelColumns = Schemas['KernelColumns'];
export type Identity = Schemas['Identity'];
export type IdentityValue = Schemas['IdentityValue'];
export type ArchitectureInfo = Schemas['ArchitectureInfo'];
export type AttentionInfo = Schemas['AttentionInfo'];
export type AttentionGroup = Schemas['AttentionGroup'];
export type KVCacheInfo = Schemas['KVCacheInfo'];
export type QuantizationInfo = Schemas['QuantizationInfo'];
export type MemoryInfo = Schemas['MemoryInfo'];
export type RepeatColumns = Schemas['RepeatColumns'];

export type NodeDetails = Schemas['NodeDetails'];
export type AttributeInfo = Schemas['AttributeInfo'];
export type ConstantInfo = Schemas['ConstantInfo'];
export type WeightFile = Schemas['WeightFile'];
export type WeightValues = Schemas['WeightValues'];
export type WeightHistogram = Schemas['WeightHistogram'];
export type RuleSettings = Schemas['RuleSettings'];
export type OperatorDoc = Schemas['OperatorDoc'];

export type Bundle = Schemas['Bundle'];
export type BundleNode = Schemas['BundleNode'];

export type Job = Schemas['Job'];
export type JobRequest = Schemas['JobRequest'];
export type Problem = Schemas['Problem'];
export type FileStamp = Schemas['FileStamp'];
export type Extracted = Schemas['Extracted'];
export type SavedFile = Schemas['SavedFile'];

/** A known size, a symbol, or unknown. */
export type DimValue = number | string | null;
